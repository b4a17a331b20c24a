import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ReadBack } from '@perkway/platform';
import { IsIn } from 'class-validator';
import type { PersonRole } from './person.entity.js';

const ROLES: PersonRole[] = ['USER', 'ADMIN'];

@ReadBack('email')
@ApiSchema({ name: 'PutPerson' })
export class PutPersonDto {
  @ApiProperty({ enum: ROLES, example: 'USER' })
  @IsIn(ROLES)
  role: PersonRole;
}

@ApiSchema({ name: 'Person' })
export class PersonResource {
  @ApiProperty({ format: 'email', description: 'In lower case', example: 'ann@ostervale-bank.example' })
  email: string;
  @ApiProperty({ enum: ROLES, example: 'USER' })
  role: PersonRole;
}
