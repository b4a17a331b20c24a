import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  COUNT_TRAFFIC,
  LIST_LOW_STOCK,
  LIST_WEBHOOK_STATES,
  LOW_STOCK,
  STOCK_RATE_DAYS,
  type LowStock,
  type WebhookState,
} from '@perkway/domain';
import { CallerIdPipe, RpcClient } from '@perkway/platform';
import { LowStockDto, OperatorsHomeDto, WebhookStateDto } from './operators-home.dto.js';

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

const toDto = ({
  account,
  id,
  origin,
  enabled,
  failingSince,
  disabledAt,
  reason,
  pending,
}: WebhookState) => ({
  account_id: account,
  id,
  origin,
  enabled,
  failing_since: timeOf(failingSince),
  disabled_at: timeOf(disabledAt),
  reason,
  pending,
});

const toLowStock = ({ pool, account, used, ...value }: LowStock): LowStockDto => ({
  ...{ pool_id: pool, account_id: account, ...value },
  days_left: used > 0 ? Math.floor((value.available * STOCK_RATE_DAYS) / used) : null,
});

@ApiTags('Operators')
@Roles('ADMIN')
@Controller('api')
export class OperatorsHomeController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('operators-home')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Traffic of all accounts against the week before, and webhooks that fail' })
  @ApiOkResponse({ description: 'The present state', type: OperatorsHomeDto })
  async getOperatorsHome(): Promise<OperatorsHomeDto> {
    const [{ from, to, dayTo, accounts }, { webhooks }] = await Promise.all([
      this.rpc.request(COUNT_TRAFFIC, {}),
      this.rpc.request(LIST_WEBHOOK_STATES, {}),
    ]);
    return {
      from: timeOf(from)!,
      to: timeOf(to)!,
      day_to: timeOf(dayTo)!,
      traffic: accounts.map(({ account, events, eventsBefore, dayEvents, dayEventsBefore }) => ({
        account_id: account,
        events,
        events_before: eventsBefore,
        day_events: dayEvents,
        day_events_before: dayEventsBefore,
      })),
      webhooks: webhooks.map(toDto),
    };
  }

  @Get('low-stock')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: `List the card values of all pools with fewer than ${LOW_STOCK} available cards` })
  @ApiOkResponse({ description: 'Those with the fewest cards first, up to 200', type: [LowStockDto] })
  async getLowStock(): Promise<LowStockDto[]> {
    const { stocks } = await this.rpc.request(LIST_LOW_STOCK, { below: LOW_STOCK });
    return stocks.map(toLowStock);
  }

  @Get('accounts/:accountId/webhooks')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'The webhooks of an account, and whether they work' })
  @ApiOkResponse({ description: 'Failing ones first', type: [WebhookStateDto] })
  async getWebhooksOfAccount(@Param('accountId', CallerIdPipe) account: string): Promise<WebhookStateDto[]> {
    const { webhooks } = await this.rpc.request(LIST_WEBHOOK_STATES, { account });
    return webhooks.map(toDto);
  }
}
