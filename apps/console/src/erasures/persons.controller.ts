import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { invalidField } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { DataOfPersonDto } from './person.dto.js';
import { PersonsService } from './persons.service.js';

const MAX_ID = 255;
const ApiId = (name: string, description: string) =>
  ApiQuery({ name, required: false, description, schema: { type: 'string', maxLength: MAX_ID } });

@ApiTags('Operators')
@Roles('ADMIN')
@Controller('api/accounts/:accountId/person')
export class PersonsController {
  constructor(private readonly persons: PersonsService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'How much an account has stored of a person',
    description: 'Before an erasure. Single-use codes are erased too, but cannot be counted.',
  })
  @ApiId('journey_id', 'Send either this or `customer_id`')
  @ApiId('customer_id', 'Send either this or `journey_id`')
  @ApiOkResponse({ description: 'The counts', type: DataOfPersonDto })
  @ApiProblems('VALIDATION_FAILED', 'ACCOUNT_NOT_FOUND')
  getDataOfPerson(
    @CurrentSession() session: Session,
    @Param('accountId', CallerIdPipe) accountId: string,
    @Query('journey_id') journey: unknown,
    @Query('customer_id') customer: unknown,
  ): Promise<DataOfPersonDto> {
    const isId = (given: unknown): given is string =>
      typeof given === 'string' && given !== '' && given.length <= MAX_ID;
    if (isId(journey) && customer === undefined) return this.persons.find(session, accountId, { journey });
    if (isId(customer) && journey === undefined) return this.persons.find(session, accountId, { customer });
    throw invalidField('journey_id', 'is required unless `customer_id` is given; send exactly one of them');
  }
}
