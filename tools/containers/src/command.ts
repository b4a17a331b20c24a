import { spawn } from 'node:child_process';

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Standard input. */
  input?: string;
  /** Default: one minute. */
  timeoutMs?: number;
  /** Includes standard error in the returned output. */
  withErrors?: boolean;
}

const TAIL = 4_000;

/** Runs a program and returns its standard output. Rejects with the end of its output if it fails or takes too long. */
export function command(program: string, args: string[], options: CommandOptions = {}): Promise<string> {
  const { cwd, env = process.env, input, timeoutMs = 60_000, withErrors = false } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL' });
    let output = '';
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      said = (said + text).slice(-TAIL);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (withErrors) output += text;
      said = (said + text).slice(-TAIL);
    });
    child.on('error', reject);
    child.on('exit', () => {
      // Set only by the timeout.
      if (!child.killed) return;
      // Grandchildren, such as apt's download methods, may keep the pipes open, and then "close" never fires.
      child.stdout.destroy();
      child.stderr.destroy();
    });
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const how = signal
        ? `was ended by ${signal} (limit ${timeoutMs / 1000} s)`
        : `exited with code ${code}`;
      reject(new Error(`${program} ${args.slice(0, 4).join(' ')} ${how}: ${said.trim()}`));
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
