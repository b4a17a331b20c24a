import type { Traffic } from '@perkway/domain';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { NAMED_BOTS } from './bots.js';
import { MAIL_PROXIES } from './mail-proxies.js';

/** Headers of a request, names in lower case (Node's `IncomingHttpHeaders`). */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

const HUMAN: Traffic = Object.freeze({ class: 'human', reason: 'none' });
const NO_USER_AGENT: Traffic = Object.freeze({ class: 'bot', reason: 'user-agent:missing' });

const PREFETCH = /\b(?:prefetch|prerender|preview)\b/i;
const PREFETCH_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;
const BY_HEADER = Object.fromEntries(
  PREFETCH_HEADERS.map((name) => [name, Object.freeze({ class: 'prefetch', reason: `header:${name}` })]),
) as Record<(typeof PREFETCH_HEADERS)[number], Traffic>;

/** Only the beginning of a longer user agent is examined. */
const USER_AGENT_LENGTH = 512;
const MAX_CACHED = 5_000;
const known = new LRUCache<string, Traffic>({ max: MAX_CACHED });

/**
 * Classifies who caused a request: a person, a bot, a browser prefetch or a mail proxy. The class is stored with the
 * event for the measure `count_people`; no request is rejected or left out because of it. `reason` is one of a fixed
 * set of names.
 */
export function classifyTraffic(headers: RequestHeaders): Traffic {
  for (const name of PREFETCH_HEADERS) {
    const value = headers[name];
    if (value !== undefined && PREFETCH.test(String(value))) return BY_HEADER[name];
  }
  const given = headers['user-agent'];
  const userAgent = typeof given === 'string' ? given.trim() : '';
  if (userAgent === '') return NO_USER_AGENT;
  const text = userAgent.length > USER_AGENT_LENGTH ? userAgent.slice(0, USER_AGENT_LENGTH) : userAgent;
  let traffic = known.get(text);
  if (!traffic) {
    traffic = classifyUserAgent(text);
    known.set(text, traffic);
  }
  return traffic;
}

function classifyUserAgent(userAgent: string): Traffic {
  const proxy = MAIL_PROXIES.find(({ pattern }) => pattern.test(userAgent));
  if (proxy) return Object.freeze({ class: 'mail_proxy', reason: `user-agent:${proxy.name}` });
  if (!isbot(userAgent)) return HUMAN;
  const lower = userAgent.toLowerCase();
  const name = NAMED_BOTS.find((bot) => lower.includes(bot)) ?? 'other';
  return Object.freeze({ class: 'bot', reason: `user-agent:${name}` });
}
