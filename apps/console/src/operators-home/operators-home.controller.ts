import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import {
  COUNT_TRAFFIC,
  LIST_NEARLY_USED_LIMITS,
  LIST_WEBHOOK_STATES,
  type WebhookState,
} from '@perkway/domain';
import { CallerIdPipe, RpcClient } from '@perkway/platform';
import { DataSource } from 'typeorm';
import {
  LinkJobThatNeedsAttentionDto,
  NearlyUsedLimitDto,
  OperatorsHomeDto,
  WebhookStateDto,
} from './operators-home.dto.js';

type LinkJobRow = Omit<LinkJobThatNeedsAttentionDto, 'since'> & { since: Date };

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

@ApiTags('Operators')
@Roles('ADMIN')
@Controller('api')
export class OperatorsHomeController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly dataSource: DataSource,
  ) {}

  @Get('operators-home')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary:
      'Compare the traffic of all accounts with the week before, and list webhooks that fail and link jobs that need attention',
  })
  @ApiOkResponse({ description: 'The present state', type: OperatorsHomeDto })
  async getOperatorsHome(): Promise<OperatorsHomeDto> {
    const [{ from, to, dayTo, accounts }, { webhooks, hasEnabled = true }, linkJobs] = await Promise.all([
      this.rpc.request(COUNT_TRAFFIC, {}),
      this.rpc.request(LIST_WEBHOOK_STATES, {}),
      this.dataSource.query<LinkJobRow[]>(
        // An approval lapses after 7 days, too, so this omits no job that can still be approved.
        `select account_id, id, name, state, refused as code, total, turn_at as since from link_jobs
         where state in ('failed', 'awaiting_approval') and turn_at > now() - interval '7 days'
         order by state desc, turn_at desc limit 200`,
      ),
    ]);
    return {
      from: timeOf(from)!,
      to: timeOf(to)!,
      day_to: timeOf(dayTo)!,
      traffic: accounts.map(
        ({ account, events, eventsBefore, dayEvents, dayEventsBefore, lastAt = null }) => ({
          account_id: account,
          events,
          events_before: eventsBefore,
          day_events: dayEvents,
          day_events_before: dayEventsBefore,
          last_event_at: timeOf(lastAt),
        }),
      ),
      webhooks: webhooks.map(toDto),
      has_webhooks: hasEnabled,
      link_jobs: linkJobs.map((job) => ({ ...job, since: job.since.toISOString() })),
    };
  }

  @Get('nearly-used-limits')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List the limits of all accounts of which at least 80 % is used in the current period',
    description: 'Limits per journey or reference are left out, because recipients usually use them up.',
  })
  @ApiOkResponse({ description: 'The most used first, up to 200', type: [NearlyUsedLimitDto] })
  async getNearlyUsedLimits(): Promise<NearlyUsedLimitDto[]> {
    const { limits } = await this.rpc.request(LIST_NEARLY_USED_LIMITS, {});
    return limits.map(({ account, resetsAt, ...limit }) => ({
      account_id: account,
      ...limit,
      resets_at: timeOf(resetsAt),
    }));
  }

  @Get('accounts/:accountId/webhooks')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the webhooks of an account, and whether they work' })
  @ApiOkResponse({
    description: 'Up to 200; those that fail, or that the service disabled, come first',
    type: [WebhookStateDto],
  })
  async getWebhooksOfAccount(@Param('accountId', CallerIdPipe) account: string): Promise<WebhookStateDto[]> {
    const { webhooks } = await this.rpc.request(LIST_WEBHOOK_STATES, { account });
    return webhooks.map(toDto);
  }
}
