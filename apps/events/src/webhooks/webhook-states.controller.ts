import { Controller } from '@nestjs/common';
import { LIST_FAILING_WEBHOOKS, type FailingWebhook } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { DataSource } from 'typeorm';

/** A webhook that its owner disabled is not failing. */
const FAILING = `
  select w.account_id as account, w.id, extract(epoch from w.failing_since)::float8 * 1000 as "failingSince",
    extract(epoch from w.disabled_at)::float8 * 1000 as "disabledAt", w.disabled_reason as reason,
    (select count(*) from (
      select from deliveries d where d.webhook = w.key and d.state = 'pending' limit 10000
    ) p)::integer as pending
  from webhooks w where w.disabled_at is not null or (w.enabled and w.failing_since is not null)
  order by coalesce(w.disabled_at, w.failing_since) desc limit 200`;

/** Serves the failing webhooks of all accounts to the console's page for operators. */
@Controller()
export class FailingWebhooksController {
  constructor(private readonly dataSource: DataSource) {}

  @RpcHandler(LIST_FAILING_WEBHOOKS)
  async list(): Promise<{ webhooks: FailingWebhook[] }> {
    return { webhooks: await this.dataSource.query<FailingWebhook[]>(FAILING) };
  }
}
