import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ERASE, ERASURE_KINDS, type ErasureKind } from '@perkway/domain';
import { IsOmittable, IsText, ReadBack } from '@perkway/platform';

const MAX_ID = 255;

@ReadBack()
@ApiSchema({ name: 'RequestErasure' })
export class RequestErasureDto {
  @ApiProperty({
    type: String,
    description: 'A journey id, as sent with clicks and pixels. Send either this or `customer_id`',
    example: 'journey-81f0',
  })
  @IsOmittable()
  @IsText(1, MAX_ID)
  journey_id?: string | null;

  @ApiProperty({
    type: String,
    description:
      'A customer id, as sent with coupon codes and as the reference of reward links. Send either this or `journey_id`',
  })
  @IsOmittable()
  @IsText(1, MAX_ID)
  customer_id?: string | null;
}

export const PART_STATES = ['waiting', 'done'] as const;
export type PartState = (typeof PART_STATES)[number];

/** The state of an erasure. It does not say whose data is erased. */
@ApiSchema({ name: 'Erasure' })
export class ErasureResource {
  @ApiProperty({ format: 'uuid', example: '7a3c1f0e-2b64-4a0e-9d0c-5f6a7b8c9d10' })
  id: string;
  @ApiProperty({ example: 'ostervale-bank' })
  account_id: string;
  @ApiProperty({ enum: ERASURE_KINDS, example: 'journey_id' })
  kind: ErasureKind;
  @ApiProperty({ enum: ['running', 'done'], example: 'running' })
  state: 'running' | 'done';
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  requested_at: string;
  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: null })
  completed_at: string | null;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', enum: [...PART_STATES] },
    description: 'Progress of each app',
    example: Object.fromEntries(Object.keys(ERASE).map((app) => [app, 'waiting'])),
  })
  parts: Record<string, PartState>;
}
