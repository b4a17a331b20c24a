import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { CleanedEnv, ValidatorSpec } from 'envalid';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ConfigError, loadEnv } from './config/load-env.js';
import { createApp, type AppDefinition } from './create-app.js';
import { DrainState } from './health/health.module.js';
import { createLogger } from './logging/logger.js';
import { NatsService } from './nats/nats.service.js';
import { onStopSignal } from './stop-signal.js';

/** Forces the exit of a drain that takes longer than this, counted after the shutdown delay. */
const DRAIN_LIMIT_MS = 10_000;

/**
 * Runs an app: reads the environment, creates the app, listens, and drains on SIGTERM and SIGINT. Until the app is
 * created there is nothing to drain, so a signal ends the process at once.
 */
export async function bootstrap<S extends Record<string, ValidatorSpec<unknown>>>(
  envSpec: S,
  defineApp: (env: CleanedEnv<S>) => AppDefinition,
): Promise<void> {
  let logger: Logger | undefined;
  let drain = async () => {};
  let isStopping = false;
  const stop = async (code: number, why: object) => {
    if (isStopping) return;
    isStopping = true;
    logger?.info(why, 'stopping');
    await drain();
    logger?.info('stopped');
    process.exit(code);
  };
  onStopSignal((signal) => void stop(0, { signal }));

  try {
    const definition = defineApp(loadEnv(envSpec));
    const { name, env } = definition;
    logger = definition.logger ?? createLogger(name, env.LOG_LEVEL);
    const app = await createApp({ ...definition, logger });
    drain = () => drainApp(app, env.SHUTDOWN_DELAY_MS, logger!);
    void app.get(NatsService).refused.then(({ message }) => {
      logger!.fatal(message);
      return stop(1, { reason: 'rejected by NATS' });
    });
    await app.listen(env.PORT, env.HOST);
    logger.info({ port: env.PORT }, 'listening');
  } catch (error) {
    const isConfig = error instanceof ConfigError;
    if (isConfig || !logger) process.stderr.write(`${(error as Error).message}\n`);
    else logger.fatal({ err: error }, 'cannot start');
    process.exit(1);
  }
}

async function drainApp(app: NestFastifyApplication, delayMs: number, logger: Logger) {
  setTimeout(() => {
    logger.error({ waitingFor: process.getActiveResourcesInfo() }, 'drain took too long');
    process.exit(1);
  }, delayMs + DRAIN_LIMIT_MS).unref();
  app.get(DrainState, { strict: false }).begin();
  // Tells clients with keep-alive connections to reconnect, to another replica.
  app.getHttpServer().prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
  await sleep(delayMs);
  await app.close();
}
