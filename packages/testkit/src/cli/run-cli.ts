// Runs the bundled CLI in its own process, as a user does, and returns its output and exit code.

import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeTempFolder } from '@holdfast/testkit'
import { programIn, ROOT, testedBuild } from '../builds/programs.ts'

const NODE = join(ROOT, 'node_modules/.bin/node')
const BUILD = join(ROOT, 'scripts/build-cli.ts')

/** The CLI starts hundreds of times; with its compiled code kept, a start needs a quarter less CPU. */
const { NODE_COMPILE_CACHE } = process.env
const COMPILE_CACHE = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

let built: Promise<string> | undefined

/** Path of the bundled CLI: that of the tested build, or of this tree, bundled only once per process. */
export async function bundledCli(): Promise<string> {
  const build = testedBuild()
  if (build !== ROOT) return programIn(build, 'cli').main
  built ??= bundle()
  return built
}

async function bundle(): Promise<string> {
  const { path } = makeTempFolder('cli')
  await promisify(execFile)(NODE, [BUILD, path])
  return join(path, 'holdfast.mjs')
}

export interface CliRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly env?: { readonly [name: string]: string }
  readonly input?: string
  readonly cwd?: string
  /** Called once the CLI process has started. */
  readonly onStart?: () => void
  /** Ends the CLI after this time; 60 s if absent. */
  readonly timeoutMs?: number
  /** Sends SIGINT to the CLI after this time, for commands that do not end. */
  readonly interruptAfterMs?: number
  /** Called at each output with all of stdout so far, and with a function that interrupts the CLI process. */
  readonly onOutput?: (all: string, interrupt: () => void) => void
}

export async function runCli(words: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const {
    env = {},
    input = '',
    cwd = ROOT,
    onOutput,
    onStart,
    interruptAfterMs,
    timeoutMs = 60_000,
  } = options
  const child = spawn(NODE, [await bundledCli(), ...words], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...COMPILE_CACHE, ...env },
    timeout: timeoutMs,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece
    onOutput?.(stdout, () => void child.kill('SIGINT'))
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece
  })
  if (interruptAfterMs !== undefined) setTimeout(() => child.kill('SIGINT'), interruptAfterMs).unref()
  onStart?.()
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }))
  })
}
