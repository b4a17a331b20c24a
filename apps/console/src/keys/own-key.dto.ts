import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ROLES, type AccountKey, type Role } from '@perkway/domain';
import { IsOmittable, IsText } from '@perkway/platform';
import { IsIn } from 'class-validator';

const MAX_NAME = 200;

@ApiSchema({ name: 'CreateKey' })
export class CreateKeyDto {
  @ApiProperty({ enum: ROLES, description: 'Only operators can create ADMIN keys', example: 'USER' })
  @IsIn(ROLES)
  role: Role;
  @ApiProperty({ type: String, description: 'To recognize the key in the list', example: 'Web shop' })
  @IsOmittable()
  @IsText(1, MAX_NAME)
  name?: string | null;
}

@ApiSchema({ name: 'Key' })
export class KeyDto implements AccountKey {
  @ApiProperty({ format: 'uuid', example: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11' })
  id: string;
  @ApiProperty({ enum: ROLES, example: 'USER' })
  role: Role;
  @ApiProperty({ type: String, nullable: true, example: 'Web shop' })
  name: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'xe43' })
  last4: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-11-05T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: '2026-11-20T16:02:00.000Z' })
  last_used_at: string | null;
  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: null })
  revoked_at: string | null;
}

@ApiSchema({ name: 'CreatedKey' })
export class CreatedKeyDto extends KeyDto {
  @ApiProperty({ description: 'Shown only once', example: 'pk_mfrggzdfmztwq2lknnwg23tpobyxe43u' })
  key: string;
}
