import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { COUNT_TRAFFIC, LIST_FAILING_WEBHOOKS } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import { OperatorsHomeDto } from './operators-home.dto.js';

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

@ApiTags('Operators')
@Roles('ADMIN')
@Controller('api/operators-home')
export class OperatorsHomeController {
  constructor(private readonly rpc: RpcClient) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Traffic of all accounts against the week before, and webhooks that fail' })
  @ApiOkResponse({ description: 'The present state', type: OperatorsHomeDto })
  async getOperatorsHome(): Promise<OperatorsHomeDto> {
    const [{ from, to, accounts }, { webhooks }] = await Promise.all([
      this.rpc.request(COUNT_TRAFFIC, {}),
      this.rpc.request(LIST_FAILING_WEBHOOKS, {}),
    ]);
    return {
      from: timeOf(from)!,
      to: timeOf(to)!,
      traffic: accounts.map(({ account, events, eventsBefore }) => ({
        account_id: account,
        events,
        events_before: eventsBefore,
      })),
      webhooks: webhooks.map(({ account, id, failingSince, disabledAt, reason, pending }) => ({
        account_id: account,
        id,
        failing_since: timeOf(failingSince),
        disabled_at: timeOf(disabledAt),
        reason,
        pending,
      })),
    };
  }
}
