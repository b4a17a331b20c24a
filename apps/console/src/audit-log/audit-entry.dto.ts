import { ApiProperty, ApiSchema } from '@nestjs/swagger';

const state = { type: 'object', nullable: true, additionalProperties: true } as const;

@ApiSchema({ name: 'AuditEntry' })
export class AuditEntry {
  @ApiProperty({ example: '1207' })
  id: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  at: string;
  @ApiProperty({ description: 'Whose key or person it was', example: 'platform' })
  account_id: string;
  @ApiProperty({ type: String, nullable: true, example: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11' })
  key_id: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'The address of the person', example: null })
  person: string | null;
  @ApiProperty({ description: 'The person, or what the key is called', example: 'bootstrap' })
  actor: string;
  @ApiProperty({ description: 'The method of the call', example: 'PUT' })
  action: string;
  @ApiProperty({ description: 'Which host was called', example: 'perks' })
  host: string;
  @ApiProperty({ example: '/admin/categories/7' })
  path: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'What the host answered; null where nobody knows whether the change was made',
    example: 200,
  })
  status: number | null;
  @ApiProperty({
    ...state,
    description: 'What was there before, without secrets; null where nothing was, or it cannot be read',
    example: { id: 7, slug: 'travel', name: 'Travel' },
  })
  before: Record<string, unknown> | null;
  @ApiProperty({
    ...state,
    description: 'What was answered, without secrets',
    example: { id: 7, slug: 'travel', name: 'Travel and hotels' },
  })
  after: Record<string, unknown> | null;
}
