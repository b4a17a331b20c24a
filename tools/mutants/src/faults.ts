/** A small change that breaks a guarantee, and the spec that must fail because of it. */
export interface Fault {
  file: string;
  /** Occurs exactly once in the file. */
  search: string;
  replacement: string;
  spec: string;
  /** Runs only the tests whose names contain this. */
  test?: string;
}

const CACHE = 'libs/platform/src/cache/refreshing-cache.ts';
const CACHE_SPEC = 'libs/platform/src/cache/refreshing-cache.spec.ts';
const CONSOLE_KEYS = 'apps/token-issuer/src/console-keys/console-keys.service.ts';
const CONSOLE_KEYS_SPEC = 'apps/token-issuer/test/console-keys.e2e-spec.ts';
const SEND = 'libs/client/src/send.ts';
const SEND_SPEC = 'libs/client/test/send.spec.ts';
const CLIENT_SPEC = 'libs/client/test/client.spec.ts';
const CREATE_PERKWAY = 'libs/client/src/create-perkway.ts';
const ROLLUPS = 'apps/analytics-query/src/maintenance/rollup-refresher.ts';
const ROLLUPS_SPEC = 'apps/analytics-query/test/rollups.e2e-spec.ts';
const SCHEDULER = 'apps/analytics-query/src/reader/query-scheduler.ts';
const LIMITS_SPEC = 'apps/analytics-query/test/limits.e2e-spec.ts';
const RELAY_SPEC = 'libs/tracking/src/relay.spec.ts';
const TRACKING_SPEC = 'libs/tracking/test/tracking.e2e-spec.ts';

export const FAULTS: readonly Fault[] = [
  // Keys and sessions
  {
    file: CACHE,
    search: 'if (now - entry.confirmedAt > this.refreshMs * 2) return undefined;',
    replacement: 'if (now - entry.confirmedAt > this.options.staleForMs) return undefined;',
    spec: CACHE_SPEC,
  },
  {
    file: CACHE,
    search: 'this.entries.delete(key);\n    this.loading.delete(key);',
    replacement: 'this.entries.delete(key);',
    spec: CACHE_SPEC,
  },
  {
    file: CACHE,
    search: 'this.entries.clear();\n    this.loading.clear();',
    replacement: 'this.entries.clear();',
    spec: CACHE_SPEC,
  },
  {
    file: CACHE,
    search: 'if (this.loading.get(key) === loading) this.store(',
    replacement: 'this.store(',
    spec: CACHE_SPEC,
  },
  {
    file: 'apps/token-issuer/src/keys/key-resolver.ts',
    search: '${column} > now() or not is_console)',
    replacement: 'true)',
    spec: CONSOLE_KEYS_SPEC,
  },
  {
    file: CONSOLE_KEYS,
    search: '} while (revoked.length > 0);',
    replacement: '} while (false);',
    spec: CONSOLE_KEYS_SPEC,
  },
  {
    file: CONSOLE_KEYS,
    search: 'person_email: parent.person_email',
    replacement: 'person_email: null',
    spec: CONSOLE_KEYS_SPEC,
  },
  {
    file: 'apps/token-issuer/src/people/people.service.ts',
    search: "known.email, ['USER', 'ADMIN']",
    replacement: "known.email, ['ADMIN']",
    spec: CONSOLE_KEYS_SPEC,
  },
  {
    file: 'libs/auth/src/listed-origins.ts',
    search: 'if (!isOfServer || allowsServerKeys)',
    replacement: 'if (allowed)',
    spec: 'apps/perks/test/browser-keys.e2e-spec.ts',
  },

  {
    file: 'libs/auth/src/listed-origins.ts',
    search: '.catch(() => false)',
    replacement: '.catch(() => true)',
    spec: 'apps/perks/test/browser-keys.e2e-spec.ts',
  },

  // Lists
  {
    file: 'apps/boost/src/campaigns/own-campaigns.service.ts',
    search: 'id collate "C" > ${page.after[0]}',
    replacement: 'id collate "C" >= ${page.after[0]}',
    spec: 'apps/boost/test/campaign-reads.e2e-spec.ts',
  },

  // Perks
  {
    file: 'apps/perks/src/erasures/erasures.controller.ts',
    search: 'where account = $1 and customer_id = $2',
    replacement: 'where $1::text is not null and customer_id = $2',
    spec: 'apps/perks/test/erasures.e2e-spec.ts',
  },
  {
    file: 'apps/perks/src/coupon-codes/coupon-codes.service.ts',
    search: 'of [TAKE_ANY, TAKE_LAST]',
    replacement: 'of [TAKE_ANY, TAKE_ANY]',
    spec: 'apps/perks/test/coupon-codes.e2e-spec.ts',
    test: 'wait for the last code',
  },
  {
    file: 'apps/perks/src/collection-reads/collection-reads.controller.ts',
    search: 'if (view) return view.then(() => sendResponse(request, reply, template, this.reads));\n',
    replacement: 'void view;\n',
    spec: 'apps/perks/test/views.e2e-spec.ts',
  },

  // Tracking events
  {
    file: 'libs/tracking/src/relay.ts',
    search: 'stored.every(Boolean)',
    replacement: 'stored.some(Boolean)',
    spec: RELAY_SPEC,
  },
  {
    file: 'libs/tracking/src/relay.ts',
    search: '      this.remember(events);\n',
    replacement: '',
    spec: RELAY_SPEC,
  },
  {
    file: 'libs/tracking/src/tracking.service.ts',
    search: '      this.relay.remember(batch.events);\n',
    replacement: '',
    spec: TRACKING_SPEC,
  },
  {
    file: 'libs/tracking/src/traffic/classify-traffic.ts',
    search: 'userAgent.slice(0, USER_AGENT_LENGTH)',
    replacement: 'userAgent.slice(-USER_AGENT_LENGTH)',
    spec: 'libs/tracking/src/traffic/classify-traffic.spec.ts',
  },

  {
    file: 'apps/links/src/erasures/erasures.controller.ts',
    search: '    await this.tracking.erase(erasure);\n',
    replacement: '',
    spec: 'apps/links/test/erasures.e2e-spec.ts',
  },

  {
    file: 'apps/boost/src/erasures/erasures.controller.ts',
    search: '    await this.tracking.erase(erasure);\n',
    replacement: '',
    spec: 'apps/boost/test/erasures.e2e-spec.ts',
  },

  // Gift cards
  {
    file: 'apps/gift-cards/src/erasures/erasures.controller.ts',
    search: 'where account = $1 and reference = $2',
    replacement: 'where $1::text is not null and reference = $2',
    spec: 'apps/gift-cards/test/erasures.e2e-spec.ts',
  },
  {
    file: 'apps/gift-cards/src/erasures/erasures.controller.ts',
    search: 'where account = $1 and journey_id = $2',
    replacement: 'where $1::text is not null and journey_id = $2',
    spec: 'apps/gift-cards/test/erasures.e2e-spec.ts',
  },
  {
    file: 'apps/gift-cards/src/migrations/1767225610000-create-gift-cards.ts',
    search: 'create unique index reward_links_card ',
    replacement: 'create index reward_links_card ',
    spec: 'apps/gift-cards/test/migrations.e2e-spec.ts',
  },
  {
    file: 'apps/gift-cards/src/migrations/views-and-functions.ts',
    search: 'v_time := clock_timestamp();',
    replacement: 'v_time := now();',
    spec: 'apps/gift-cards/test/expired-meanwhile.e2e-spec.ts',
  },
  {
    file: 'apps/gift-cards/src/migrations/limit-functions.ts',
    search: 'c.settled_until, clock_timestamp()',
    replacement: 'c.settled_until, now()',
    spec: 'apps/gift-cards/test/expired-meanwhile.e2e-spec.ts',
  },

  {
    file: 'apps/gift-cards/src/erasures/erasures.controller.ts',
    search: 'set reference = null, attributes = null, replacement_reason = null,',
    replacement: 'set reference = null, attributes = null,',
    spec: 'apps/gift-cards/test/replacements.e2e-spec.ts',
    test: 'keeps no reason',
  },
  {
    file: 'apps/gift-cards/src/reward-links/reservations.ts',
    search: "    if (!pool) throw new Error('Driver not Connected');\n",
    replacement: '',
    spec: 'apps/gift-cards/test/contract.e2e-spec.ts',
    test: 'has not reached its database',
  },
  {
    file: 'apps/gift-cards/src/withdrawals/withdrawals.service.ts',
    search: 'where i.pool_id = $1',
    replacement: 'where $1::text is not null',
    spec: 'apps/gift-cards/test/withdrawals.e2e-spec.ts',
    test: 'can be checked first',
  },
  {
    file: 'apps/gift-cards/src/reward-links/reward-links.service.ts',
    search: 'Math.min(nowSeconds() + lifetime, this.latestExpiry())',
    replacement: 'nowSeconds() + lifetime',
    spec: 'apps/gift-cards/test/replacements.e2e-spec.ts',
    test: 'within MAX_LINK_DAYS',
  },
  {
    file: 'apps/gift-cards/src/migrations/views-and-functions.ts',
    search: 'and recalled_by is null\n        order by expires_at',
    replacement: 'order by expires_at',
    spec: 'apps/gift-cards/test/withdrawals.e2e-spec.ts',
    test: 'with "keep"',
  },
  {
    file: 'apps/gift-cards/src/migrations/withdrawal-functions.ts',
    search: 'where settled = 0 and cancelled_at is null',
    replacement: 'where settled = 0',
    spec: 'apps/gift-cards/test/withdrawals.e2e-spec.ts',
    test: 'with "keep"',
  },

  // Analytics
  {
    file: ROLLUPS,
    search: 'e.occurred_at >= $1 and e.occurred_at < $2',
    replacement: 'e.occurred_at >= $1 and e.occurred_at <= $2',
    spec: ROLLUPS_SPEC,
    test: 'the rollup watermark',
  },
  {
    file: ROLLUPS,
    search: 'if (start < closed)',
    replacement: 'if (start <= closed)',
    spec: ROLLUPS_SPEC,
    test: 'the rollup watermark',
  },
  {
    file: SCHEDULER,
    search: 'account.cooldownUntil = Math.max(account.cooldownUntil, now + cooldownMs);',
    replacement:
      'for (const each of this.accounts.values()) each.cooldownUntil = Math.max(each.cooldownUntil, now + cooldownMs);',
    spec: LIMITS_SPEC,
    test: 'cooldown of each other',
  },
  {
    file: SCHEDULER,
    search: ' || (running > 0 && free <= running)',
    replacement: '',
    spec: LIMITS_SPEC,
    test: 'cooldown of each other',
  },
  {
    file: 'apps/analytics-query/src/api/load.service.ts',
    search: 'return this.metaBodies.get(',
    replacement: 'return new MetaBodies().get(',
    spec: LIMITS_SPEC,
    test: 'is built once',
  },

  // CSV files
  {
    file: 'libs/domain/src/csv-cell.ts',
    search: '/^[=+\\-@\\t\\r\\n',
    replacement: '/^[=+@\\t\\r\\n',
    spec: 'libs/domain/src/csv-cell.spec.ts',
  },
  {
    file: 'libs/domain/src/csv-cell.ts',
    search: '\\n＝',
    replacement: '＝',
    spec: 'libs/domain/src/csv-cell.spec.ts',
  },
  {
    file: 'libs/domain/src/csv-cell.ts',
    search: '＝＋－＠',
    replacement: '',
    spec: 'libs/domain/src/csv-cell.spec.ts',
  },

  // Client library
  {
    file: SEND,
    search: 'Number(given) * 1000',
    replacement: 'Number(given)',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: 'Date.parse(given) - now',
    replacement: 'Date.parse(given)',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: 'Math.max(0, ms)',
    replacement: 'ms',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: 'wait > MAX_PAUSE_MS',
    replacement: 'wait >= MAX_PAUSE_MS',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: 'response.status === 429 || ',
    replacement: '',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: 'attempt === tries',
    replacement: 'attempt > tries',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: '2 ** (attempt - 1)',
    replacement: '1',
    spec: SEND_SPEC,
  },
  {
    file: SEND,
    search: 'if (!isConnectionFailure(error))',
    replacement: 'if (false)',
    spec: CLIENT_SPEC,
  },
  {
    file: SEND,
    search: 'return cause !== undefined &&',
    replacement: 'return cause === undefined ||',
    spec: CLIENT_SPEC,
  },
  {
    file: SEND,
    search: '= utf8(value);',
    replacement: '= String(value);',
    spec: CLIENT_SPEC,
  },
  {
    file: SEND,
    search: 'signal ? AbortSignal.any([signal, late.signal]) : late.signal',
    replacement: 'late.signal',
    spec: CLIENT_SPEC,
  },
  {
    file: SEND,
    search: 'clock.sleep(wait, signal)',
    replacement: 'clock.sleep(wait)',
    spec: CLIENT_SPEC,
  },
  {
    file: 'libs/client/src/call.ts',
    search: 'await send(page.next_cursor)',
    replacement: 'await send()',
    spec: CLIENT_SPEC,
  },
  {
    file: 'libs/client/src/call.ts',
    search: '(sent ??= send())',
    replacement: 'send()',
    spec: CLIENT_SPEC,
  },
  {
    file: CREATE_PERKWAY,
    search: 'input.idempotencyKey ?? crypto.randomUUID()',
    replacement: 'crypto.randomUUID()',
    spec: CLIENT_SPEC,
  },
  {
    file: CREATE_PERKWAY,
    search: 'return input.externalId !== undefined;',
    replacement: 'return true;',
    spec: CLIENT_SPEC,
  },
  {
    file: CREATE_PERKWAY,
    search: "if (method !== 'POST') return true;",
    replacement: "if (method === 'GET') return true;",
    spec: CLIENT_SPEC,
  },
  {
    file: 'libs/client/src/analytics-token.ts',
    search: ' - MARGIN_MS',
    replacement: '',
    spec: SEND_SPEC,
  },
  {
    file: 'libs/client/src/analytics-token.ts',
    search: 'known.renewAt > clock.now()',
    replacement: 'known.renewAt >= clock.now()',
    spec: SEND_SPEC,
  },
  {
    file: 'libs/client/src/analytics-token.ts',
    search: 'expiration - serverTime.epoch_timestamp * 1000',
    replacement: 'expiration - clock.now()',
    spec: SEND_SPEC,
  },
  {
    file: 'libs/client/src/analytics-token.ts',
    search: 'if (current === requested) current = undefined;\n    });',
    replacement: '});',
    spec: CLIENT_SPEC,
  },

  // OpenAPI documents
  {
    file: 'libs/platform/src/openapi/without-admin.ts',
    search: "path.split('/')[1] !== 'admin'",
    replacement: "!path.startsWith('/admin')",
    spec: 'libs/platform/src/openapi/without-admin.spec.ts',
  },
  {
    file: 'libs/platform/src/openapi/without-admin.ts',
    search: 'collect(all[name!]);',
    replacement: '',
    spec: 'libs/platform/src/openapi/without-admin.spec.ts',
  },
  {
    file: 'libs/platform/src/errors/validation.pipe.ts',
    search: '...found,',
    replacement: '',
    spec: 'apps/perks/test/management.e2e-spec.ts',
    test: 'like any unknown member',
  },
  {
    file: 'libs/platform/src/openapi/openapi.ts',
    search: 'EXPOSE_ADMIN || ',
    replacement: 'true || ',
    spec: 'libs/platform/src/create-app.spec.ts',
    test: 'internal routes only on METRICS_PORT',
  },
  {
    file: 'libs/platform/src/http/internal-routes.ts',
    search: "['docs', 'docs-yaml']",
    replacement: "['docs']",
    spec: 'libs/platform/src/create-app.spec.ts',
    test: 'internal routes only on METRICS_PORT',
  },

  // Key expiry, roles and scopes
  {
    file: 'libs/auth/src/api-key.guard.ts',
    search: 'expiresAt !== undefined && expiresAt <= Date.now()',
    replacement: 'false',
    spec: 'libs/auth/src/api-key.guard.spec.ts',
  },
  {
    file: 'libs/auth/src/api-key.guard.ts',
    search: 'if (!access.scope) throw',
    replacement: 'if (!access.scope) return; if (false) throw',
    spec: 'libs/auth/src/api-key.guard.spec.ts',
  },
  {
    file: 'libs/auth/src/access.ts',
    search: "= ['USER', 'ADMIN'];",
    replacement: "= ['USER', 'ADMIN', 'JOURNEY'];",
    spec: 'libs/auth/src/api-key.guard.spec.ts',
  },

  // Erasures
  {
    file: 'apps/token-issuer/src/erasures/erasures.service.ts',
    search: "last_round = erasures.round + ${ROUNDS}, done = '{}'",
    replacement: 'last_round = erasures.last_round',
    spec: 'apps/token-issuer/test/erasures.e2e-spec.ts',
    test: 'starts again',
  },
  {
    file: 'apps/token-issuer/src/erasures/erasure-runner.ts',
    search:
      "set done = array(select distinct unnest(done || $3::text[])), due_at = now() + interval '${RETRY_MS} ms'\n  where id = $1 and round = $2",
    replacement:
      "set done = array(select distinct unnest(done || $3::text[])), due_at = now() + interval '${RETRY_MS} ms'\n  where id = $1 and $2::int is not null",
    spec: 'apps/token-issuer/test/erasures.e2e-spec.ts',
    test: 'takes over nothing',
  },
  {
    file: 'apps/console/src/erasures/erasures.controller.ts',
    search: 'return { isDone: !is_running };',
    replacement: 'return { isDone: true };',
    spec: 'apps/console/test/erasures.e2e-spec.ts',
  },
  {
    file: 'apps/console/src/erasures/rows-of-person.ts',
    search: 'j.account_id = $1 and r.reference = $2',
    replacement: '$1::text is not null and r.reference = $2',
    spec: 'apps/console/test/erasures.e2e-spec.ts',
  },

  // Card loads, cancellation and reveals while other transactions run
  {
    file: 'apps/gift-cards/src/migrations/views-and-functions.ts',
    search: 'account = p_account for no key update;',
    replacement: 'account = p_account;',
    spec: 'apps/gift-cards/test/concurrency.e2e-spec.ts',
    test: 'a cancellation',
  },
  {
    file: 'apps/gift-cards/src/migrations/views-and-functions.ts',
    search: 'v_now := clock_timestamp();',
    replacement: 'v_now := now();',
    spec: 'apps/gift-cards/test/concurrency.e2e-spec.ts',
    test: 'a cancellation',
  },
  {
    file: 'apps/gift-cards/src/migrations/views-and-functions.ts',
    search: 'and not released and expires_at > clock_timestamp()',
    replacement: 'and not released and expires_at > now()',
    spec: 'apps/gift-cards/test/concurrency.e2e-spec.ts',
    test: 'do not reveal a link that expires while they wait',
  },

  // Migrations
  {
    file: 'libs/platform/src/database/run-migrations.ts',
    search: "migrationsTransactionMode: 'each'",
    replacement: "migrationsTransactionMode: 'all'",
    spec: 'libs/testing/test/database.e2e-spec.ts',
    test: 'runMigrations',
  },
  {
    file: 'libs/platform/src/database/run-migrations.ts',
    search: "migrationsTransactionMode: 'each'",
    replacement: "migrationsTransactionMode: 'none'",
    spec: 'libs/testing/test/database.e2e-spec.ts',
    test: 'runMigrations',
  },
  {
    file: 'libs/platform/src/database/run-migrations.ts',
    search: 'await runner.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);',
    replacement: '',
    spec: 'libs/testing/test/database.e2e-spec.ts',
    test: 'runMigrations',
  },
  {
    file: 'apps/gift-cards/src/migrations/views-and-functions.ts',
    search: "update migrations set name = $1 || name where name like 'ViewsAndFunctions%'",
    replacement: 'select $1::text',
    spec: 'apps/gift-cards/test/migrations.e2e-spec.ts',
  },

  // Stopping
  {
    file: 'libs/platform/src/bootstrap.ts',
    search: 'response.shouldKeepAlive = false;',
    replacement: 'void response;',
    spec: 'apps/gift-cards/test/lifecycle.fleet-spec.ts',
    test: 'lets keep-alive clients finish',
  },
  {
    file: 'libs/platform/src/bootstrap.ts',
    search: 'app.get(DrainState, { strict: false }).begin();',
    replacement: '',
    spec: 'apps/gift-cards/test/lifecycle.fleet-spec.ts',
    test: 'lets keep-alive clients finish',
  },
  {
    file: 'libs/platform/src/bootstrap.ts',
    search: 'await sleep(delayMs);',
    replacement: 'void sleep;',
    spec: 'apps/gift-cards/test/lifecycle.fleet-spec.ts',
    test: 'lets keep-alive clients finish',
  },
  {
    file: 'apps/analytics-query/src/ingest/ingest.service.ts',
    search: 'for (const { message } of [...this.waiting, ...this.storingNow]) message.nak();',
    replacement: '',
    spec: 'apps/analytics-query/test/stopping.e2e-spec.ts',
  },
  {
    file: 'apps/analytics-query/src/ingest/ingest.service.ts',
    search: '!this.hasUpdatedStreams)',
    replacement: 'true)',
    spec: 'apps/analytics-query/test/ingest.e2e-spec.ts',
    test: 'keeps the settings of the replica that started last',
  },

  // Acknowledgement after the commit
  {
    file: 'apps/analytics-query/src/ingest/ingest.service.ts',
    search: 'const stopTimer = this.metrics.batches.startTimer();',
    replacement:
      'const stopTimer = this.metrics.batches.startTimer();\n      for (const { message } of batch) message.ack();',
    spec: 'apps/analytics-query/test/stopping.e2e-spec.ts',
  },
  {
    file: 'apps/events/src/feed/feed-consumer.service.ts',
    search: 'await this.writer.write(',
    replacement:
      'for (const { message, hasUnknownVersion } of batch) if (!hasUnknownVersion) message.ack();\n      await this.writer.write(',
    spec: 'apps/events/test/feed.e2e-spec.ts',
    test: 'stores an event later that the database could not store',
  },

  // The audit log, which has an entry before the change is made
  {
    file: 'apps/console/src/keys/own-keys.service.ts',
    search: "return role === 'ADMIN' ? keys :",
    replacement: 'return role ? keys :',
    spec: 'apps/console/test/proxy.fleet-spec.ts',
    test: 'neither see nor end',
  },
  {
    file: 'apps/console/src/audit-log/audit-log.service.ts',
    search: 'const { account, role, keyId, email } = session;',
    replacement:
      'const { account, role, keyId, email } = session;\n    const early = change();\n    early.catch(() => undefined);\n    change = () => early;',
    spec: 'apps/console/test/proxy.fleet-spec.ts',
    test: 'the audit log has them first',
  },
  {
    file: 'libs/auth/src/admin-log/admin-log.interceptor.ts',
    search: 'await this.dataSource.query(INSERT, [JSON.stringify(entry)]);',
    replacement: 'void this.dataSource.query(INSERT, [JSON.stringify(entry)]).catch(() => undefined);',
    spec: 'apps/token-issuer/test/accounts.e2e-spec.ts',
    test: 'logged first',
  },
  {
    file: 'apps/console/src/audit-log/audit-filters.ts',
    search: "e.account_id = ${reader} and e.role <> 'ADMIN'",
    replacement: 'e.account_id = ${reader}',
    spec: 'apps/console/test/proxy.fleet-spec.ts',
  },

  // One account's load on others
  {
    file: 'apps/analytics-query/src/query/check-size.ts',
    search: 'total[name] += copies * size[name];',
    replacement: 'total[name] += size[name];',
    spec: 'apps/analytics-query/src/query/normalize.spec.ts',
  },
  {
    file: 'apps/analytics-query/src/api/meta-bodies.ts',
    search: '    await otherWork();\n',
    replacement: '',
    spec: 'apps/analytics-query/test/event-loop.e2e-spec.ts',
    test: '100 ms: meta',
  },
  {
    file: 'libs/platform/src/http/failed-attempt-limiter.ts',
    search: 'await this.nextBatch(source, reply);',
    replacement: 'throw this.tooMany(source, reply);',
    spec: 'libs/platform/src/http/failed-attempt-limiter.spec.ts',
  },
  {
    file: 'apps/console/src/sessions/sessions.service.ts',
    search: '    if (!this.isOurs(id)) return undefined;\n',
    replacement: '',
    spec: 'apps/console/test/sessions.fleet-spec.ts',
    test: 'wrong MAC',
  },
  {
    file: 'apps/perks/src/coupon-codes/coupon-codes.service.ts',
    search: '          await manager.query(LOCK_QUOTA, [perkId, account]);\n',
    replacement: '',
    spec: 'apps/perks/test/coupon-codes.e2e-spec.ts',
    test: 'several customers wait',
  },
  {
    file: 'apps/analytics-query/src/reporting/reporting-guard.ts',
    search: 's.datname <> current_database() or ',
    replacement: '',
    spec: 'apps/analytics-query/test/reporting.e2e-spec.ts',
    test: 'other databases',
  },

  // What a public key or a stranger can count
  {
    file: 'apps/analytics-query/src/ingest/event-store.ts',
    search: 'const isPublic = event.traffic !== undefined;',
    replacement: 'const isPublic = false;',
    spec: 'apps/analytics-query/test/ingest.e2e-spec.ts',
    test: 'external ids',
  },
  {
    file: 'apps/analytics-query/src/erasures/erased-journeys.ts',
    search: 'return [...new Set([...standIns, externalId])];',
    replacement: 'return [externalId];',
    spec: 'apps/analytics-query/test/erasures.e2e-spec.ts',
  },
  {
    file: 'apps/boost/src/journey/journey.service.ts',
    search: "const isPublic = caller.role === 'JOURNEY';",
    replacement: 'const isPublic = false;',
    spec: 'apps/boost/test/journey.e2e-spec.ts',
    test: 'with a JOURNEY key, which is public',
  },
  {
    file: 'apps/boost/src/views/campaign-views.service.ts',
    search: 'network: networkOf(clientIp(request)),',
    replacement: 'network: clientIp(request),',
    spec: 'apps/boost/test/outreach.e2e-spec.ts',
    test: 'IPv6',
  },
  {
    file: 'apps/boost/src/outreach/reward-urls.service.ts',
    search: ' || !(await this.hasOffer(perk))',
    replacement: '',
    spec: 'apps/boost/test/outreach.e2e-spec.ts',
    test: 'a deleted perk',
  },
  {
    file: 'libs/domain/src/tracking-events.ts',
    search: 'source === subjectOf(type) || COPY_SUBJECTS.includes(source)',
    replacement: 'source !== undefined && type !== undefined',
    spec: 'libs/domain/src/tracking-events.spec.ts',
  },
  {
    file: 'libs/domain/src/erasure.ts',
    search: '  if (event.account !== account) return false;\n',
    replacement: '',
    spec: 'apps/boost/test/erasures.e2e-spec.ts',
  },

  // Retention
  {
    file: 'apps/analytics-query/src/retention.ts',
    search: 'at.getUTCMonth() - months, 1)',
    replacement: 'at.getUTCMonth() - months - 1, 1)',
    spec: 'apps/analytics-query/test/retention.e2e-spec.ts',
  },
  {
    file: 'apps/analytics-query/src/maintenance/drop-expired.ts',
    search: 'month < $1',
    replacement: 'month <= $1',
    spec: 'apps/analytics-query/test/retention.e2e-spec.ts',
  },
  {
    file: 'apps/analytics-query/src/maintenance/drop-expired.ts',
    search: "    ['perk_days', 'day'],\n",
    replacement: '',
    spec: 'apps/analytics-query/test/retention.e2e-spec.ts',
  },
  {
    file: 'apps/events/src/feed/feed-retention.service.ts',
    search: 'e.position <= ends.position`',
    replacement: 'e.position < ends.position`',
    spec: 'apps/events/test/feed.e2e-spec.ts',
    test: 'retention time',
  },
  {
    file: 'apps/events/src/feed/feed-retention.service.ts',
    search: "state = 'pending')",
    replacement: "state = 'failed')",
    spec: 'apps/events/test/feed.e2e-spec.ts',
    test: 'retention time',
  },

  // Rollups of days in other time zones
  {
    file: 'apps/analytics-query/src/query/choose-rollup.ts',
    search: "(grain === 'day' ? isUtc : areWholeHours)",
    replacement: 'areWholeHours',
    spec: ROLLUPS_SPEC,
    test: 'the rollup watermark',
  },
  {
    file: 'apps/analytics-query/src/query/choose-rollup.ts',
    search: 'minutes % 60 === 0',
    replacement: 'minutes % 30 === 0',
    spec: ROLLUPS_SPEC,
  },
  {
    file: 'apps/analytics-query/src/query/compile-all.ts',
    search: '(spentMs += sliceMs) > MAX_MS',
    replacement: 'sliceMs > MAX_MS',
    spec: 'apps/analytics-query/src/query/compile-all.spec.ts',
    test: 'one second',
  },
  {
    file: 'apps/analytics-query/src/query/compile-all.ts',
    search: 'characters > MAX_SQL_CHARACTERS',
    replacement: 'compiled.text.length > MAX_SQL_CHARACTERS',
    spec: 'apps/analytics-query/src/query/compile-all.spec.ts',
    test: 'four million',
  },

  // SQL that Citus runs
  {
    file: 'apps/analytics-query/src/reader/reader.ts',
    search: 'set local perkway.account_id',
    replacement: 'set perkway.account_id',
    spec: 'apps/analytics-query/src/portable-statements.spec.ts',
  },
];
