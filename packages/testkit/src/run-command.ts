// Runs a short command to its end and returns its output. The error of a failed command quotes its stderr.

import { execFile, spawnSync } from 'node:child_process'
import { env } from 'node:process'

export interface CommandOptions {
  /** Variables that are added to those of this process; an undefined one is removed. */
  readonly env?: { readonly [name: string]: string | undefined }
  readonly timeoutMs?: number
}

/** Runs a command and blocks the process: for commands of a few milliseconds, such as `ip` or `iptables`. */
export function runCommand(file: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8', timeout: 30_000 })
  if (status === 0) return stdout
  throw new Error(`${file} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`)
}

export function runCommandAsync(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { timeoutMs = 60_000 } = options
  return new Promise((resolve, reject) => {
    const settings = {
      encoding: 'utf8' as const,
      timeout: timeoutMs,
      env: { ...env, ...options.env },
      maxBuffer: 64 * 1024 ** 2,
    }
    execFile(file, args, settings, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${args.join(' ')}: ${stderr.trim() || error.message}`))
    })
  })
}
