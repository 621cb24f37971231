#!/usr/bin/env node
// The program holdfast-server: serve, init, check-config, setup, doctor, upgrade, restored. Reads the command line, runs the
// command, shuts down cleanly.

import { statSync } from 'node:fs'
import { type ConfiguredLine, readCommandLine, USAGE, UsageFault } from './command-line.ts'
import type { UnusableStore } from './compose.ts'
import { checkCertificate } from './config/check-certificate.ts'
import { checkConfig } from './config/check-config.ts'
import { checkProduction } from './config/check-production.ts'
import { type ConfigSources, gatherConfig } from './config/load-config.ts'
import type { Config } from './config/schema.ts'
import { readServerTls } from './connect-engines.ts'
import { runDoctor } from './doctor/run-doctor.ts'
import { exitCodeOf, serve } from './lifecycle/serve.ts'
import { EngineError } from './ports/key-value.ts'
import { runInit } from './run-init.ts'
import { runRestored } from './run-restored.ts'
import { runFinalize, runOldest, runPlan } from './run-upgrade.ts'
import { runInvite } from './setup/join/run-invite.ts'
import { SetupFault } from './setup/performing.ts'
import { runSetup } from './setup/run-setup.ts'
import { createSystemdMachine } from './setup/systemd-machine.ts'
import { NewerFormatError } from './store/format.ts'
import { RestoredStoreError } from './store/restored.ts'

async function runConfigured(line: ConfiguredLine): Promise<void> {
  // An operator who sets up the secrets store with a token need not configure identities: `init` issues them.
  const identities = line.init.operatorTokenFile === undefined ? 'needed' : 'to be issued'
  const env = line.roles === undefined ? process.env : { ...process.env, HOLDFAST_ROLES: line.roles }
  const load = () => gatherConfig(line.config ?? process.env['HOLDFAST_CONFIG'], env, identities)
  const loaded = load()
  const checked = checkConfig(loaded, line.command === 'check-config' ? faultsFor(line) : undefined)
  if (!loaded.ok || checked.exitCode !== 0) {
    process.stderr.write(checked.text)
    process.exitCode = 1
  } else if (line.command === 'check-config') process.stdout.write(checked.text)
  else if (line.command === 'init') process.exitCode = await runInit(loaded.config, line.init)
  else if (line.command === 'upgrade finalize') process.exitCode = await runFinalize(loaded.config)
  else if (line.command === 'upgrade oldest') process.exitCode = await runOldest(loaded.config)
  else if (line.command === 'upgrade plan') process.exitCode = await runPlan(loaded.config, line.json)
  else if (line.command === 'restored') process.exitCode = await runRestored(loaded.config, line.restored)
  else await serve(loaded.config, load)
}

/** The faults that check-config finds in the files of a valid configuration, and those of the profile, if there is one. */
const faultsFor = (line: ConfiguredLine) => (config: Config, sources: ConfigSources) => [
  ...checkCertificate(() => readServerTls(config), Date.now()),
  ...(line.profile === undefined ? [] : profileFaults(line, config, sources)),
]

/** The permissions of files are read here. */
const profileFaults = (
  { config: file = process.env['HOLDFAST_CONFIG'] }: ConfiguredLine,
  config: Config,
  sources: ConfigSources,
) =>
  checkProduction({
    config,
    sources,
    file,
    modeOf: (path) => statSync(path, { throwIfNoEntry: false })?.mode,
  })

async function main(): Promise<void> {
  const line = readCommandLine(process.argv.slice(2))
  if (line.command === 'help') process.stdout.write(USAGE)
  else if (line.command === 'setup')
    process.exitCode = await runSetup(line.run, createSystemdMachine(), OUTPUT)
  else if (line.command === 'setup invite')
    process.exitCode = await runInvite(line.run, createSystemdMachine(), OUTPUT)
  else if (line.command === 'doctor') process.exitCode = await runDoctor(line.run, OUTPUT)
  else await runConfigured(line)
}

const OUTPUT = {
  out: (text: string): void => void process.stdout.write(text),
  err: (text: string): void => void process.stderr.write(text),
}

/** Ends the process. An error that an operator can fix is explained in one sentence; any other error keeps its stack. */
function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`)
  if (isUnusable(error)) process.exit(exitCodeOf(error))
  process.exit(error instanceof UsageFault ? 2 : 1)
}

const isUnusable = (error: unknown): error is UnusableStore =>
  error instanceof NewerFormatError || error instanceof RestoredStoreError

function explain(error: unknown): string {
  if (error instanceof EngineError)
    return `The key-value store returned an error: ${error.message}. Check the settings under etcd.`
  if (isUnusable(error) || error instanceof SetupFault) return error.message
  if (error instanceof UsageFault) return `${error.message} All of it: holdfast-server --help`
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

await main().catch(fail)
