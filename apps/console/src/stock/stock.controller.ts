import { Controller, Get, Header, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  daysLeft,
  isUuid,
  LIST_LOW_CODES,
  LIST_STOCK,
  usedPerDay,
  type CardStock,
  type StockQuery,
} from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { CardStockDto, CodeStockDto, LOW } from './stock.dto.js';

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
    description: 'Operators may name a pool of any account.',
  })
  @ApiQuery({
    name: 'pool_id',
    required: false,
    description: 'Selects the values of one pool',
    schema: { type: 'string', format: 'uuid' },
  })
  @ApiOkResponse({ description: 'The first to run out first', type: [CardStockDto] })
  async getStock(
    @CurrentSession() { account, role }: Session,
    @Query('pool_id') pool?: unknown,
  ): Promise<CardStockDto[]> {
    if (typeof pool !== 'string') return this.list({ account });
    if (!isUuid(pool)) return [];
    if (role === 'ADMIN') return this.list({ pool });
    // The requests of an account share one query, whatever pools they name.
    return (await this.list({ account })).filter(({ pool_id }) => pool_id === pool.toLowerCase());
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
