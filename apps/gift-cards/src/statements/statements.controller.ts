import { Controller, Get, Header, Headers, Param, Query, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiQuery,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiProblems, wantsCsv } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { Statement } from './statement.dto.js';
import { StatementsService, toCsv } from './statements.service.js';

const CSV_EXAMPLE =
  'pool_id,currency,country,denomination,opening_cards,opening_amount,loaded_cards,loaded_amount,revealed_cards,revealed_amount,withdrawn_cards,withdrawn_amount,closing_cards,closing_amount,generated_cards,generated_amount,cancelled_cards,cancelled_amount,expired_cards,expired_amount,outstanding_cards,outstanding_amount\r\n' +
  '6f1c2a54-0b7e-4d0f-9a3b-5e8d1c7f2a10,EUR,FR,25,400,10000,100,2500,80,2000,0,0,420,10500,95,2375,5,125,3,75,40,1000\r\n';

const JWS_EXAMPLE = 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.eyJtb250aCI6IjIwMjYtMTAifQ.c2lnbmF0dXJl';
const MONTH = { type: 'string', pattern: '^[1-9]\\d{3}-(0[1-9]|1[0-2])$' };

@ApiTags('Statements')
@RequiredScope('links:read')
@Controller('statements')
export class StatementsController {
  constructor(private readonly statements: StatementsService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @Header('vary', 'Accept')
  @ApiOperation({
    summary: 'Get what happened to the gift cards of the account in a month',
    description:
      'The figures of a month that is over never change. opening + loaded - revealed - withdrawn = closing, and the closing of a month is the opening of the next. Inventories without any figure are left out.',
  })
  @ApiQuery({
    name: 'month',
    required: true,
    description: 'In UTC. A month that is over, or this one',
    schema: MONTH,
  })
  @ApiExtraModels(Statement)
  @ApiResponse({
    status: 200,
    description: 'The statement. As `text/csv` (RFC 4180) if `Accept` asks for it',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(Statement) } },
      'text/csv': { schema: { type: 'string' }, example: CSV_EXAMPLE },
    },
  })
  @ApiProblems('MONTH_INVALID')
  async getStatement(
    @CurrentCaller() caller: Caller,
    @Query('month') month: unknown,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Statement | string> {
    const statement = await this.statements.get(caller, month);
    if (!wantsCsv(accept)) return statement;
    void reply.header('content-type', 'text/csv; charset=utf-8; header=present');
    return toCsv(statement);
  }

  @Get(':month.jws')
  @Header('cache-control', 'no-store')
  @Header('content-type', 'application/jose')
  @ApiOperation({
    summary: 'Get the statement of a closed month, signed',
    description:
      'A compact JWS (ES256) of the statement, with `account` and `issued_at`. The keys at `/.well-known/jwks.json` of the token host verify it.',
  })
  @ApiParam({ name: 'month', description: 'In UTC. A month that is over', schema: MONTH })
  @ApiProduces('application/jose')
  @ApiResponse({
    status: 200,
    description: 'The signed statement',
    content: { 'application/jose': { schema: { type: 'string' }, example: JWS_EXAMPLE } },
  })
  @ApiProblems('MONTH_INVALID', 'MONTH_OPEN', 'PAYLOAD_TOO_LARGE')
  getSignedStatement(@CurrentCaller() caller: Caller, @Param('month') month: string): Promise<string> {
    return this.statements.sign(caller, month);
  }
}
