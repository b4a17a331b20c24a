import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsOmittable, IsText } from '@perkway/platform';
import { CUBES_OF_PERSONS, type CubeOfPersons } from './persons.service.js';

const MAX_ID = 255;

@ApiSchema({ name: 'FindPerson' })
export class FindPersonDto {
  @ApiProperty({ type: String, description: 'Send either this or `customer_id`', example: 'journey-81f0' })
  @IsOmittable()
  @IsText(1, MAX_ID)
  journey_id?: string | null;
  @ApiProperty({ type: String, description: 'Send either this or `journey_id`' })
  @IsOmittable()
  @IsText(1, MAX_ID)
  customer_id?: string | null;
}

@ApiSchema({ name: 'EventsOfPerson' })
class EventsOfPersonDto {
  @ApiProperty({ enum: CUBES_OF_PERSONS, example: 'conversions' })
  cube: CubeOfPersons;
  @ApiProperty({ type: 'integer', example: 3 })
  count: number;
}

@ApiSchema({ name: 'DataOfPerson' })
export class DataOfPersonDto {
  @ApiProperty({ type: [EventsOfPersonDto], description: 'Events, by cube; those without any are left out' })
  events: EventsOfPersonDto[];
  @ApiProperty({ type: 'integer', description: 'Rows of link jobs that name the person', example: 1 })
  job_rows: number;
  @ApiProperty({
    type: 'integer',
    description: 'Single-use codes that the customer has; 0 for a journey',
    example: 2,
  })
  codes: number;
}
