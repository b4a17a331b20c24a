import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';

/**
 * Secrets that no log line may show, wherever they come from: keys and tokens in headers or query strings, the token
 * in the path of a click_url, the fragment of a reward link.
 */
const SECRETS: readonly [RegExp, string][] = [
  // A member, header or parameter by name. Quotes may be escaped, as in JSON inside a string.
  [
    /((?:x-)?api[_-]?key|token|authorization|reward_link|card_?code|\bpin|password)(\\*["']?\s*(?:[=:]|%3D)\s*\\*["']?(?:(?:Bearer|Basic)\s+)?)[^\s"'&,}\\]+/gi,
    '$1$2[redacted]',
  ],
  [/\b(Bearer|Basic)\s+(?!\[redacted\])[^\s"',}\\]+/gi, '$1 [redacted]'],
  // JSON Web Tokens and generated API keys, anywhere.
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[redacted]'],
  [/\bpk_[a-z2-7]{32}\b/gi, '[redacted]'],
  // Keys of console sessions and jobs.
  [/\bck_[0-9a-f]{64}\b/gi, '[redacted]'],
  [/\/c\/[\w-]{16,}/g, '/c/[redacted]'],
  [/(#|%23)[\w.-]{16,}/gi, '$1[redacted]'],
  [/((?:postgres(?:ql)?|nats|tls):\/\/[^:@/\s]+):[^@\s]+@/gi, '$1:[redacted]@'],
  // Postgres repeats the value that it could not parse.
  [/(invalid input [^:"\\]+: \\?")[^"\\]*/g, '$1[redacted]'],
];

/** Replaces everything that looks like a credential. */
export const redact = (text: string): string =>
  SECRETS.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);

/** Keeps what helps to find a fault. Driver errors carry statement parameters, which may be secrets. */
const serializeError = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(code ? { code } : {}),
    stack: error.stack,
    ...(cause === undefined ? {} : { cause: serializeError(cause) }),
  };
};

/** Writes JSON lines to standard output. */
export const createLogger = (app: string, level: string, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      base: { app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      hooks: { streamWrite: redact },
    },
    destination ?? pino.destination({ sync: level !== 'silent' }),
  );

/** Sends Nest's own messages through the app's logger. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}
  log = (message: unknown, ...rest: unknown[]) => this.write('debug', message, rest);
  error = (message: unknown, ...rest: unknown[]) => this.write('error', message, rest);
  warn = (message: unknown, ...rest: unknown[]) => this.write('warn', message, rest);
  debug = (message: unknown, ...rest: unknown[]) => this.write('debug', message, rest);
  verbose = (message: unknown, ...rest: unknown[]) => this.write('trace', message, rest);
  fatal = (message: unknown, ...rest: unknown[]) => this.write('fatal', message, rest);

  private write(level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal', message: unknown, rest: unknown[]) {
    const context = rest.findLast((entry) => typeof entry === 'string');
    const err = message instanceof Error ? message : rest.find((entry) => entry instanceof Error);
    const text = message instanceof Error ? message.message : String(message);
    this.logger[level]({ ...(context ? { context } : {}), ...(err ? { err } : {}) }, text);
  }
}

/** Injection token of the app's pino logger. */
export const LOGGER = Symbol('LOGGER');
