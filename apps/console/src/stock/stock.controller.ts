import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  daysLeft,
  invalidField,
  isUuid,
  LIST_LOW_CODES,
  LIST_STOCK,
  usedPerDay,
  type CardStock,
  type StockQuery,
} from '@perkway/domain';
import { ApiProblems, RpcClient } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { CardStockDto, CodeStockDto, LOW } from './stock.dto.js';

const MAX_POOLS = 100;

const toDto = ({ pool, account, used, days, ...value }: CardStock): CardStockDto => ({
  ...{ pool_id: pool, account_id: account, ...value },
  days_left: daysLeft({ ...value, used, days }),
  per_day: usedPerDay({ used, days }),
});

@ApiTags('Stock')
@Controller('api')
export class StockController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('stock')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List the card values of the account, and how long they last',
    description: 'Operators may name pools of any account.',
  })
  @ApiQuery({
    name: 'pool_id',
    required: false,
    description: `Selects the values of a pool, or of up to ${MAX_POOLS}`,
    isArray: true,
    schema: { type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: MAX_POOLS },
  })
  @ApiOkResponse({ description: 'The first to run out first', type: [CardStockDto] })
  @ApiProblems('VALIDATION_FAILED')
  async getStock(
    @CurrentSession() { account, role }: Session,
    @Query('pool_id') pool?: unknown,
  ): Promise<CardStockDto[]> {
    if (pool === undefined) return this.list({ account });
    const named = [pool].flat();
    if (named.length > MAX_POOLS) throw invalidField('pool_id', `must be at most ${MAX_POOLS} pools`);
    const pools = named.filter(isUuid).map((id) => id.toLowerCase());
    if (pools.length === 0) return [];
    // The requests of an account share one query, whatever pools they name.
    const stocks = await this.list(role === 'ADMIN' ? { pools } : { account });
    return stocks.filter(({ pool_id }) => pools.includes(pool_id));
  }

  @Get('low-stock')
  @Roles('ADMIN')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: `List the card values of all pools of which ${LOW}` })
  @ApiOkResponse({ description: 'The first to run out first, up to 200', type: [CardStockDto] })
  getLowStock(): Promise<CardStockDto[]> {
    return this.list({ low: true });
  }

  @Get('low-codes')
  @Roles('ADMIN')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: `List the perks with single-use codes of which ${LOW}` })
  @ApiOkResponse({ description: 'The first to run out first, up to 200', type: [CodeStockDto] })
  async getLowCodes(): Promise<CodeStockDto[]> {
    const { stocks } = await this.rpc.request(LIST_LOW_CODES, {});
    return stocks.map(({ perk, title, ...rate }) => ({
      ...{ perk_id: perk, title, available: rate.available },
      days_left: daysLeft(rate),
      per_day: usedPerDay(rate),
    }));
  }

  private async list(query: StockQuery): Promise<CardStockDto[]> {
    const { stocks } = await this.rpc.request(LIST_STOCK, query);
    return stocks.map(toDto);
  }
}
