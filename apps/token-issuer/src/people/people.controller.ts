import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiPage, ApiProblems, ApiSearch, CallerIdPipe, type ListQuery, type Page } from '@perkway/platform';
import { PeopleService } from './people.service.js';
import { PersonResource, PutPersonDto } from './person.dto.js';

const ApiEmail = () =>
  ApiParam({ name: 'email', description: 'In any case', schema: { type: 'string', format: 'email' } });

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/accounts/:accountId/people')
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get()
  @ApiOperation({ summary: 'Who may sign in for the account' })
  @ApiSearch('the address')
  @ApiPage(PersonResource, 'By address')
  @ApiProblems('ACCOUNT_NOT_FOUND')
  listPeople(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Query() query: ListQuery,
  ): Promise<Page<PersonResource>> {
    return this.people.list(accountId, query);
  }

  @Get(':email')
  @ApiOperation({ summary: 'A person of the account' })
  @ApiEmail()
  @ApiOkResponse({ description: 'The person', type: PersonResource })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'PERSON_NOT_FOUND')
  getPerson(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('email') email: string,
  ): Promise<PersonResource> {
    return this.people.get(accountId, email);
  }

  @Put(':email')
  @ApiOperation({ summary: 'Lets a person sign in for the account, or gives one another role' })
  @ApiEmail()
  @ApiOkResponse({ description: 'The person', type: PersonResource })
  @ApiProblems('ACCOUNT_NOT_FOUND')
  putPerson(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('email') email: string,
    @Body() { role }: PutPersonDto,
  ): Promise<PersonResource> {
    return this.people.put(accountId, email, role);
  }

  @Delete(':email')
  @HttpCode(204)
  @ApiOperation({ summary: 'Takes a person from the account' })
  @ApiEmail()
  @ApiResponse({ status: 204, description: 'The person is none of the account any more' })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'PERSON_NOT_FOUND')
  deletePerson(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('email') email: string,
  ): Promise<void> {
    return this.people.delete(accountId, email);
  }
}
