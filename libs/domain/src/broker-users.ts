import type { AppName } from './apps.js';
import { RPC_CONTRACTS } from './messages.js';
import type { RpcContract } from './rpc-contract.js';
import {
  FEED_CONSUMER,
  FORMER_TRACKING_STREAM,
  TRACKING_CONSUMER,
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECTS,
  TRACKING_STREAM,
  trackingSubject,
} from './tracking-events.js';

/** The unrestricted user of operators, their tools, and broker setup. */
export const BROKER_OPERATOR = 'operator';

/** Each app has its own inboxes, so that no other app receives its responses. */
export const inboxPrefix = (app: string): string => `_INBOX_${app.replaceAll('-', '_')}`;

/** Permissions of one app on the broker; everything else is refused. The user has the app's name. */
export interface BrokerUser {
  publish: string[];
  subscribe: string[];
  /**
   * Whether the app may respond once to each request that it receives. The broker then remembers every message with a
   * reply subject that it delivers to the app, until the response is sent or times out.
   */
  responses: boolean;
}

const ALL: readonly Pick<RpcContract<object, object>, 'subject' | 'owner' | 'callers'>[] = RPC_CONTRACTS;

/** The subject on which the replicas of an app share their rate-limit counts. */
export const limitsSubject = (app: string): string => `limits.${app}`;

/** Apps with a tracking outbox. */
const TRACKERS: AppName[] = ['perks', 'links', 'boost', 'gift-cards'];

/**
 * Creates the streams and its own consumer, reads and acknowledges messages, purges old ones from a stream that is
 * nearly full, and deletes those of erased persons.
 */
const INGEST: AppName = 'analytics-query';
const INGEST_SUBJECTS = [
  ...[TRACKING_STREAM, TRACKING_DEAD_STREAM].flatMap((stream) =>
    ['INFO', 'CREATE', 'UPDATE'].map((call) => `$JS.API.STREAM.${call}.${stream}`),
  ),
  `$JS.API.STREAM.PURGE.${TRACKING_STREAM}`,
  ...[TRACKING_STREAM, TRACKING_DEAD_STREAM].map((stream) => `$JS.API.STREAM.MSG.DELETE.${stream}`),
  `$JS.API.STREAM.MSG.GET.${TRACKING_DEAD_STREAM}`,
  // Messages are republished without an erased person.
  trackingSubject(INGEST),
  ...['INFO', 'UPDATE', 'DELETE'].map((call) => `$JS.API.STREAM.${call}.${FORMER_TRACKING_STREAM}`),
  ...[TRACKING_STREAM, FORMER_TRACKING_STREAM].flatMap((stream) => [
    `$JS.API.STREAM.MSG.GET.${stream}`,
    ...['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT'].map(
      (call) => `$JS.API.CONSUMER.${call}.${stream}.${TRACKING_CONSUMER}`,
    ),
    `$JS.ACK.${stream}.${TRACKING_CONSUMER}.>`,
  ]),
  TRACKING_DEAD_SUBJECTS,
  // Messages that the feed has not read are not purged.
  `$JS.API.CONSUMER.INFO.${TRACKING_STREAM}.${FEED_CONSUMER}`,
];

/** Reads the stream into the feed. */
const FEED: AppName = 'events';
const FEED_SUBJECTS = [
  ...['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT'].map(
    (call) => `$JS.API.CONSUMER.${call}.${TRACKING_STREAM}.${FEED_CONSUMER}`,
  ),
  `$JS.ACK.${TRACKING_STREAM}.${FEED_CONSUMER}.>`,
  TRACKING_DEAD_SUBJECTS,
];

/** Shows operators the state of the stream. */
const STREAM_VIEWER: AppName = 'console';
const STREAM_VIEWER_SUBJECTS = [
  `$JS.API.STREAM.INFO.${TRACKING_DEAD_STREAM}`,
  ...[TRACKING_CONSUMER, FEED_CONSUMER].map(
    (consumer) => `$JS.API.CONSUMER.INFO.${TRACKING_STREAM}.${consumer}`,
  ),
];

const STREAM_READERS: AppName[] = [INGEST, FEED];

/**
 * Returns the prefix of the inboxes in which `rpcCaller` expects the responses of `owner`. Apps that read the stream
 * get a prefix that only they may publish to. With `allow_responses` the broker would remember every delivered event as
 * a request, which limits deliveries to 800 per second instead of more than ten thousand.
 */
export const replyPrefix = (rpcCaller: string, owner: AppName): string =>
  STREAM_READERS.includes(owner) ? `${inboxPrefix(rpcCaller)}.${owner}` : inboxPrefix(rpcCaller);

function permissionsOf(app: AppName): BrokerUser {
  const requested = ALL.filter(({ callers }) => callers.includes(app));
  const owned = ALL.filter(({ owner }) => owner === app);
  const callers = new Set<string>([...owned.flatMap((contract) => contract.callers), BROKER_OPERATOR]);
  return {
    publish: [
      ...requested.map(({ subject }) => subject),
      ...(TRACKERS.includes(app) ? [trackingSubject(app)] : []),
      ...(app === INGEST ? INGEST_SUBJECTS : []),
      ...(STREAM_READERS.includes(app)
        ? [...callers].map((rpcCaller) => `${replyPrefix(rpcCaller, app)}.>`)
        : []),
      ...(app === STREAM_VIEWER ? STREAM_VIEWER_SUBJECTS : []),
      ...(app === FEED ? FEED_SUBJECTS : []),
      limitsSubject(app),
    ],
    subscribe: [`${inboxPrefix(app)}.>`, ...owned.map(({ subject }) => subject), limitsSubject(app)],
    responses: owned.length > 0 && !STREAM_READERS.includes(app),
  };
}

/** Permissions by app. The configuration of every broker (tests, local stack, deployments) is generated from this. */
export const BROKER_USERS: Readonly<Record<string, BrokerUser>> = Object.fromEntries(
  [
    ...new Set<AppName>([...ALL.flatMap(({ owner, callers }) => [owner, ...callers]), ...TRACKERS, INGEST]),
  ].map((app) => [app, permissionsOf(app)]),
);
