import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiPage, ApiProblems, CallerIdPipe, type ListQuery, type Page } from '@perkway/platform';
import { ErasureResource, RequestErasureDto } from './erasure.dto.js';
import { ErasuresService } from './erasures.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/accounts/:accountId/erasures')
export class ErasuresController {
  constructor(private readonly erasures: ErasuresService) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({
    summary: "Erase a person's data of the account in every app",
    description:
      'Counts stay: a journey still counts as one, under a random id, without attributes and references. ' +
      'Its events that arrive later are treated the same. A customer keeps the coupon code, and counts as a new customer from then on.',
  })
  @ApiResponse({ status: 202, description: 'The receipt', type: ErasureResource })
  @ApiProblems('ACCOUNT_NOT_FOUND')
  requestErasure(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Body() body: RequestErasureDto,
  ): Promise<ErasureResource> {
    return this.erasures.request(accountId, body);
  }

  @Get()
  @ApiOperation({ summary: 'List the erasures of an account' })
  @ApiPage(ErasureResource, 'Newest first')
  @ApiProblems('ACCOUNT_NOT_FOUND')
  listErasures(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Query() query: ListQuery,
  ): Promise<Page<ErasureResource>> {
    return this.erasures.list(accountId, query);
  }

  @Get(':erasureId')
  @ApiOperation({ summary: 'Get the progress of an erasure' })
  @ApiParam({ name: 'erasureId', schema: { type: 'string', format: 'uuid' } })
  @ApiResponse({ status: 200, description: 'The receipt', type: ErasureResource })
  @ApiProblems('ACCOUNT_NOT_FOUND', 'ERASURE_NOT_FOUND')
  getErasure(
    @Param('accountId', CallerIdPipe) accountId: string,
    @Param('erasureId') erasureId: string,
  ): Promise<ErasureResource> {
    return this.erasures.get(accountId, erasureId);
  }
}
