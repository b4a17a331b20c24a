import { Body, Controller, Header, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { invalidField } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { DataOfPersonDto, FindPersonDto } from './person.dto.js';
import { PersonsService } from './persons.service.js';

@ApiTags('Operators')
@Roles('ADMIN')
@Controller('api/accounts/:accountId/person')
export class PersonsController {
  constructor(private readonly persons: PersonsService) {}

  /** Takes the id in the body, because proxies and browsers log URLs. */
  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Count what an account stores about a person',
    description:
      'Call this before an erasure. It changes nothing. An erasure also erases attributes, which this does not count.',
  })
  @ApiOkResponse({ description: 'The counts', type: DataOfPersonDto })
  @ApiProblems('VALIDATION_FAILED', 'ACCOUNT_NOT_FOUND')
  getDataOfPerson(
    @CurrentSession() session: Session,
    @Param('accountId', CallerIdPipe) accountId: string,
    @Body() { journey_id: journey, customer_id: customer }: FindPersonDto,
  ): Promise<DataOfPersonDto> {
    if (journey && !customer) return this.persons.find(session, accountId, { journey });
    if (customer && !journey) return this.persons.find(session, accountId, { customer });
    throw invalidField('journey_id', 'or `customer_id` must be given, but not both');
  }
}
