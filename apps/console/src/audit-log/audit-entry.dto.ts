import { ApiProperty, ApiSchema } from '@nestjs/swagger';

const state = { type: 'object', nullable: true, additionalProperties: true } as const;

@ApiSchema({ name: 'AuditEntry' })
export class AuditEntry {
  @ApiProperty({ example: '1207' })
  id: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  at: string;
  @ApiProperty({ description: 'The account of the key or person', example: 'platform' })
  account_id: string;
  @ApiProperty({ type: String, nullable: true, example: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11' })
  key_id: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The e-mail address of the person',
    example: null,
  })
  person: string | null;
  @ApiProperty({ description: 'The person, or the name of the key', example: 'bootstrap' })
  actor: string;
  @ApiProperty({ description: 'HTTP method of the call', example: 'PUT' })
  action: string;
  @ApiProperty({ description: 'The called host', example: 'perks' })
  host: string;
  @ApiProperty({ example: '/admin/categories/7' })
  path: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Response status of the host; null if it is unknown whether the change was made',
    example: 200,
  })
  status: number | null;
  @ApiProperty({
    ...state,
    description: 'The previous state without secrets; null if there was none or it is not readable',
    example: { id: 7, slug: 'travel', name: 'Travel' },
  })
  before: Record<string, unknown> | null;
  @ApiProperty({
    ...state,
    description: 'The response or the state after the change, without secrets',
    example: { id: 7, slug: 'travel', name: 'Travel and hotels' },
  })
  after: Record<string, unknown> | null;
}
