import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Packages that most specs load. Jest evaluates every module again for each spec file and reads, resolves and wraps
 * each file of a package separately. Bundled packages load in half the time.
 */
const PACKAGES = [
  '@nats-io/jetstream',
  '@nats-io/transport-node',
  '@nestjs/common',
  '@nestjs/common/constants.js',
  '@nestjs/core',
  '@nestjs/microservices',
  '@nestjs/microservices/errors/empty-response.exception.js',
  '@nestjs/passport',
  '@nestjs/platform-fastify',
  '@nestjs/swagger',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'envalid',
  'fastify',
  'luxon',
  'passport',
  'passport-headerapikey',
  'pg',
  'pino',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'supertest',
  'typeorm',
  'typeorm/driver/postgres/PostgresDriver.js',
];

const ROOT = join(import.meta.dirname, '../../..');
const fileOf = (name) => `${name.replaceAll('/', '_').replace(/\.js$/, '')}.cjs`;
/** A changed lock file or package list makes a new folder. */
const key = createHash('sha256')
  .update(readFileSync(join(ROOT, 'package-lock.json')))
  .update(readFileSync(import.meta.filename))
  .digest('hex')
  .slice(0, 16);
const FOLDER = join(ROOT, '.cache/test-packages', key);

/** For Jest's `moduleNameMapper`. */
export const bundledPackages = Object.fromEntries(
  PACKAGES.map((name) => [`^${name.replaceAll('.', '\\.')}$`, join(FOLDER, fileOf(name))]),
);

/** Bundles the packages once per lock file. */
export async function bundlePackages() {
  if (existsSync(FOLDER)) return;
  const draft = `${FOLDER}-${process.pid}`;
  const entries = join(draft, 'entries');
  mkdirSync(entries, { recursive: true });
  try {
    for (const name of PACKAGES)
      writeFileSync(join(entries, fileOf(name)), `module.exports = require('${name}');`);
    const bundle = await rolldown({
      input: Object.fromEntries(PACKAGES.map((name) => [fileOf(name), join(entries, fileOf(name))])),
      platform: 'node',
      // Optional packages that are not installed stay `require` calls, which fail only when they run.
      logLevel: 'silent',
    });
    await bundle.write({
      dir: draft,
      format: 'cjs',
      entryFileNames: '[name]',
      chunkFileNames: 'chunk-[hash].cjs',
      exports: 'auto',
      keepNames: true,
    });
    if (!existsSync(FOLDER)) renameSync(draft, FOLDER);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
