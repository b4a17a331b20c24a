import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

/** `npm run audit` against this database. */
export async function audit(databaseUrl: string): Promise<{ exitCode: number; output: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'tools/audit/src/main.ts'], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text));
  child.stderr.on('data', (text: Buffer) => (output += text));
  const exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  return { exitCode, output };
}
