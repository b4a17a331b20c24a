import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { LIST_WEBHOOK_STATES, type WebhookState } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';

/**
 * Selects the status or the connection's error of a failed attempt; the body of a response is for its account only.
 * Looks first at the pending deliveries with the latest due times: those wait for a retry, while new ones are due now.
 */
const LAST_FAILURE = `coalesce((
    select coalesce('Status ' || last_status, last_error) from (
      select last_status, last_error from deliveries d
      where d.webhook = w.key and d.state = 'pending' and not d.held and not d.requested
      order by d.next_attempt_at desc limit 100
    ) latest where last_status is not null or last_error is not null limit 1
  ), (
    select coalesce('Status ' || last_status, last_error) from deliveries d
    where d.webhook = w.key and d.state = 'failed' order by d.id desc limit 1
  ))`;

/**
 * Selects all webhooks of the account $1; if $1 is null, up to 200 webhooks of any account that are failing or that the
 * service has disabled.
 */
const STATES = `
  select w.account_id as account, w.id, w.url, w.enabled,
    extract(epoch from w.failing_since)::float8 * 1000 as "failingSince",
    extract(epoch from w.disabled_at)::float8 * 1000 as "disabledAt",
    coalesce(w.disabled_reason, case when w.enabled and w.failing_since is not null then ${LAST_FAILURE} end) as reason,
    (select count(*) from (
      select from deliveries d where d.webhook = w.key and d.state = 'pending' limit 10000
    ) p)::integer as pending
  from webhooks w
  where case when $1::text is null then w.disabled_at is not null or (w.enabled and w.failing_since is not null)
    else w.account_id = $1 end
  order by coalesce(w.disabled_at, w.failing_since) desc nulls last, w.id limit 200`;

/** Serves the states of webhooks to the console's pages for operators. */
@Controller()
export class WebhookStatesController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_WEBHOOK_STATES)
  async list(
    @Payload() { account }: { account?: string },
  ): Promise<{ webhooks: WebhookState[]; hasEnabled: boolean }> {
    const rows = await this.dataSource.query<(Omit<WebhookState, 'origin'> & { url: string })[]>(STATES, [
      account ?? null,
    ]);
    const [{ hasEnabled }] = await this.dataSource.query<[{ hasEnabled: boolean }]>(
      'select exists (select from webhooks where enabled and ($1::text is null or account_id = $1)) as "hasEnabled"',
      [account ?? null],
    );
    return {
      webhooks: rows.map(({ url, ...state }) => ({ ...state, origin: new URL(url).origin })),
      hasEnabled,
    };
  }
}
