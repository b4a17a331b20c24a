import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { API_KEY_FORM, API_KEY_PATTERN, ROLES, type Role } from '@perkway/domain';
import { IsOmittable, IsText } from '@perkway/platform';
import { IsIn, Matches } from 'class-validator';

const MAX_NAME = 200;
const EXAMPLE_ID = '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11';
const EXAMPLE_NAME = 'Web shop';

@ApiSchema({ name: 'CreateApiKey' })
export class CreateApiKeyDto {
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
    type: String,
    pattern: API_KEY_PATTERN,
    description: 'An existing key to import; case does not matter. If omitted, a key is generated',
    example: 'demo-ostervale-bank-user-key-0001',
  })
  @IsOmittable()
  @Matches(new RegExp(API_KEY_PATTERN), {
    message: `$property ${API_KEY_FORM}`,
  })
  key?: string | null;
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
    description: 'Null for a valid key',
    example: null,
  })
  revoked_at: string | null;
}

@ApiSchema({ name: 'CreatedApiKey' })
export class CreatedApiKey extends ApiKeyResource {
  @ApiProperty({
    description: 'Shown only once: only a keyed hash of it is stored',
    example: 'pk_mfrggzdfmztwq2lknnwg23tpobyxe43u',
  })
  key: string;
}
