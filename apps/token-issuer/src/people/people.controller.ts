import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, Roles } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiPage, ApiProblems, ApiSearch, CallerIdPipe, type ListQuery, type Page } from '@perkway/platform';
import { PeopleService } from './people.service.js';
import { PersonResource, PutPersonDto } from './person.dto.js';

const ApiEmail = () =>
  ApiParam({ name: 'email', description: 'Case-insensitive', schema: { type: 'string', format: 'email' } });

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/accounts/:accountId/people')
export class PeopleController {
  constructor(private readonly people: PeopleService) {}

  @Get()
  @ApiOperation({ summary: 'List the people who may sign in for the account' })
  @ApiSearch('the address')
  @ApiPage(PersonResource, 'Sorted by address')
  @ApiProblems('ACCOUNT_NOT_FOUND')
  listPeople(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Query() query: ListQuery,
  ): Promise<Page<PersonResource>> {
    return this.people.list(accountId, query);
  }

  @Get(':email')
  @ApiOperation({ summary: 'Get a person of the account' })
  @ApiEmail()
  @ApiResponse({ status: 200, description: 'The person', type: PersonResource })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'PERSON_NOT_FOUND')
  getPerson(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('email') email: string,
  ): Promise<PersonResource> {
    return this.people.get(accountId, email);
  }

  @Put(':email')
  @ApiOperation({
    summary: "Let a person sign in for the account, or change the person's role",
    description:
      'Setting the role USER revokes the ADMIN keys that the person created or rotated under Integration in the console. A key that expires can add people only to other accounts and only with the role USER, and cannot change a USER to ADMIN (otherwise 403 `KEY_EXPIRES`).',
  })
  @ApiEmail()
  @ApiResponse({ status: 200, description: 'The person', type: PersonResource })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'KEY_EXPIRES')
  putPerson(
    @CurrentCaller() caller: Caller,
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('email') email: string,
    @Body() { role }: PutPersonDto,
  ): Promise<PersonResource> {
    return this.people.put(accountId, email, role, caller.keyId);
  }

  @Delete(':email')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Remove a person from the account',
    description:
      "Within 5 seconds, the person's sessions end, and the USER and ADMIN keys that the person made for the account under Integration in the console are revoked. A repeated call completes an interrupted one.",
  })
  @ApiEmail()
  @ApiResponse({ status: 204, description: 'The person no longer belongs to the account' })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'PERSON_NOT_FOUND')
  deletePerson(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('email') email: string,
  ): Promise<void> {
    return this.people.delete(accountId, email);
  }
}
