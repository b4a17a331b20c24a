import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CUBES_OF_PERSONS, type CubeOfPersons } from './persons.service.js';

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
  @ApiProperty({ type: 'integer', description: 'Rows of link jobs with this reference', example: 1 })
  job_rows: number;
}
