import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ROLES, SCOPES, type Role, type Scope } from '@perkway/domain';
import { IsInstant, IsOmittable, IsText, ReadBack } from '@perkway/platform';
import { ArrayMinSize, ArrayUnique, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';

const MAX_NAME = 200;
const EXAMPLE_ID = '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11';
/** A week. */
const MAX_OVERLAP_S = 604_800;
export const DEFAULT_OVERLAP_S = 86_400;
const EXAMPLE_NAME = 'Web shop';

@ApiSchema({ name: 'NewApiKey' })
@ReadBack()
export class NewApiKeyDto {
  @ApiProperty({
    enum: ROLES,
    description:
      "USER: for the account's servers. ADMIN: also for the management API. JOURNEY: for browsers on the account's web sites; may only call the customer journey of Boost and read perks",
    example: 'USER',
  })
  @IsIn(ROLES)
  role: Role;

  @ApiProperty({
    description: 'To recognize the key in the list',
    example: EXAMPLE_NAME,
  })
  @IsOmittable()
  @IsText(1, MAX_NAME)
  name?: string | null;

  @ApiProperty({
    description: 'What the key may do, within its role. If omitted, it may do all that its role may',
    type: 'array',
    items: { type: 'string', enum: [...SCOPES] },
    minItems: 1,
    uniqueItems: true,
    example: ['links:create'],
  })
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SCOPES, { each: true })
  scopes?: Scope[] | null;

  @ApiProperty({
    description: 'From this time on, the key gets 401. If omitted, it does not expire',
    example: '2027-11-05T09:30:00.000Z',
  })
  @IsOmittable()
  @IsInstant({ isFuture: true })
  expires_at?: string | null;
}

@ApiSchema({ name: 'RotateApiKey' })
@ReadBack()
export class RotateApiKeyDto {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_S,
    description: `How long the old key still works. Default: ${DEFAULT_OVERLAP_S}`,
    example: 3_600,
  })
  @IsOmittable()
  @IsInt()
  @Min(0)
  @Max(MAX_OVERLAP_S)
  overlap_seconds?: number | null;
}

@ApiSchema({ name: 'ApiKey' })
export class ApiKeyResource {
  @ApiProperty({ format: 'uuid', example: EXAMPLE_ID })
  id: string;

  @ApiProperty({ enum: ROLES, example: 'USER' })
  role: Role;

  @ApiProperty({ type: String, nullable: true, example: EXAMPLE_NAME })
  name: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The last characters of the key, to recognize it; null for keys created before these were stored',
    example: 'xe43',
  })
  last4: string | null;

  @ApiProperty({ format: 'date-time', example: '2026-11-05T09:30:00.000Z' })
  created_at: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'Time of the last use, to the minute and with a delay of seconds; null if never used',
    example: '2026-11-20T16:02:00.000Z',
  })
  last_used_at: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'Null unless the key was revoked',
    example: null,
  })
  revoked_at: string | null;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: [...SCOPES] },
    nullable: true,
    description: 'What the key may do, within its role; null if it may do all that its role may',
    example: ['links:create'],
  })
  scopes: Scope[] | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'From this time on, the key gets 401; null if it does not expire',
    example: '2027-11-05T09:30:00.000Z',
  })
  expires_at: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uuid',
    description: 'The key that replaces this one; null unless this one was rotated',
    example: null,
  })
  rotated_to: string | null;

  @ApiProperty({
    format: 'uuid',
    description:
      'The key under which limits with `per: key_id` count its links: the first one of a chain of rotations',
    example: EXAMPLE_ID,
  })
  counted_as: string;
}

@ApiSchema({ name: 'CreatedApiKey' })
export class CreatedApiKey extends ApiKeyResource {
  @ApiProperty({
    description: 'Shown only once: only a keyed hash of it is stored',
    example: 'pk_mfrggzdfmztwq2lknnwg23tpobyxe43u',
  })
  key: string;
}
