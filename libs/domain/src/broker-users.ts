import type { AppName } from './apps.js';
import { QUESTIONS } from './messages.js';
import type { Question } from './question.js';
import {
  FORMER_TRACKING_STREAM,
  TRACKING_CONSUMER,
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECTS,
  TRACKING_STREAM,
  trackingSubject,
} from './tracking-events.js';

/** May do everything: people, their tools, and whoever prepares the broker. */
export const BROKER_OPERATOR = 'operator';

/** Each app listens on inboxes of its own, so that no other hears its answers. */
export const inboxPrefix = (app: string): string => `_INBOX_${app.replaceAll('-', '_')}`;

/** What one app may do on the broker; everything else is refused. The user is named as the app. */
export interface BrokerUser {
  publish: string[];
  subscribe: string[];
  /**
   * Whether it may answer, once, wherever a request that it received wants its answer. The broker then remembers each
   * message with a reply subject that it delivers to the app, for as long as it may be answered.
   */
  answers: boolean;
}

const ALL: readonly Pick<Question<object, object>, 'subject' | 'owner' | 'askers'>[] = QUESTIONS;

/** Where the replicas of an app tell one another what they have counted against limits. */
export const limitsSubject = (app: string): string => `limits.${app}`;

/** The apps that limit keys or addresses. */
const LIMITERS: AppName[] = ['perks', 'boost', 'gift-cards', 'allocation-page', 'token-issuer', 'console'];

/** The apps with a tracking outbox. */
const TRACKERS: AppName[] = ['perks', 'links', 'boost', 'gift-cards'];

/** Makes the streams and the consumer, reads and acknowledges, drops what is stored and too old or too much, or erased. */
const INGEST: AppName = 'analytics-query';
const INGEST_SUBJECTS = [
  ...[TRACKING_STREAM, TRACKING_DEAD_STREAM].flatMap((stream) =>
    ['INFO', 'CREATE', 'UPDATE'].map((call) => `$JS.API.STREAM.${call}.${stream}`),
  ),
  `$JS.API.STREAM.PURGE.${TRACKING_STREAM}`,
  ...[TRACKING_STREAM, TRACKING_DEAD_STREAM].map((stream) => `$JS.API.STREAM.MSG.DELETE.${stream}`),
  `$JS.API.STREAM.MSG.GET.${TRACKING_DEAD_STREAM}`,
  // Messages that somebody was erased from come back without that person.
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
];

/** Tells operators how the stream is. */
const LOOKER: AppName = 'console';
const LOOKER_SUBJECTS = [
  `$JS.API.STREAM.INFO.${TRACKING_DEAD_STREAM}`,
  `$JS.API.CONSUMER.INFO.${TRACKING_STREAM}.${TRACKING_CONSUMER}`,
];

/**
 * Where `asker` wants the answers of `owner`. Those of the ingest come to inboxes that it alone may write to, because each
 * event that it is delivered would be one more message that it may answer: the broker looks through all of them at each
 * delivery, and comes to 800 a second instead of more than ten thousand.
 */
export const answersPrefix = (asker: string, owner: AppName): string =>
  owner === INGEST ? `${inboxPrefix(asker)}.${owner}` : inboxPrefix(asker);

function permissionsOf(app: AppName): BrokerUser {
  const asked = ALL.filter(({ askers }) => askers.includes(app));
  const owned = ALL.filter(({ owner }) => owner === app);
  const askers = new Set<string>([...owned.flatMap((question) => question.askers), BROKER_OPERATOR]);
  const limits = LIMITERS.includes(app) ? [limitsSubject(app)] : [];
  return {
    publish: [
      ...asked.map(({ subject }) => subject),
      ...(TRACKERS.includes(app) ? [trackingSubject(app)] : []),
      ...(app === INGEST
        ? [...INGEST_SUBJECTS, ...[...askers].map((asker) => `${answersPrefix(asker, app)}.>`)]
        : []),
      ...(app === LOOKER ? LOOKER_SUBJECTS : []),
      ...limits,
    ],
    subscribe: [`${inboxPrefix(app)}.>`, ...owned.map(({ subject }) => subject), ...limits],
    answers: owned.length > 0 && app !== INGEST,
  };
}

/** By app. The configuration of every broker (tests, local stack, deployments) is made of this. */
export const BROKER_USERS: Readonly<Record<string, BrokerUser>> = Object.fromEntries(
  [...new Set<AppName>([...ALL.flatMap(({ owner, askers }) => [owner, ...askers]), ...TRACKERS, INGEST])].map(
    (app) => [app, permissionsOf(app)],
  ),
);
