// Observes the machine for planSetup: files, certificates, units, the secrets store and the platform. Changes nothing.

import { X509Certificate } from 'node:crypto'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env, getuid } from 'node:process'
import type { Config } from '../config/schema.ts'
import { decodeNames } from './certificate-names.ts'
import { desiredSteps } from './desired-steps.ts'
import { answers, gatherServiceConfig, gatherSetupConfig, hasPlatform, withUnsealer } from './engines.ts'
import type { CertificateFact, FileFact, SetupFacts } from './facts.ts'
import { readIfPresent } from './files.ts'
import { gatherJoin } from './join/gather-join.ts'
import type { Invitation } from './join/invitation.ts'
import { configuredAddress, planNetwork } from './join/network.ts'
import { type Layout, layoutBelow, type Service, type SetupOptions, UNITS, USERS } from './layout.ts'
import type { Machine } from './machine.ts'
import { readPending } from './pending.ts'
import { earlierFiles, type Step, writtenBy } from './step.ts'

interface Given {
  readonly hasUnsealKey: boolean
  readonly invitation?: Invitation
}

export async function gatherFacts(
  options: SetupOptions,
  machine: Machine,
  { hasUnsealKey, invitation }: Given,
): Promise<SetupFacts> {
  const layout = layoutBelow(options.root)
  const joining = await gatherJoin(options, layout, invitation)
  const etcdEnvironment = readIfPresent(layout.etcdEnvironment)
  const steps = desiredSteps(options, planNetwork({ ...joining, etcdEnvironment }, options))
  const configured = gatherServiceConfig(layout, 'server')
  const reach = [gatherSetupConfig(options), configured].filter((config) => config !== undefined)
  const [units, status, exists] = await Promise.all([
    gatherUnits(options, machine),
    firstAnswer(reach, (config) => withUnsealer(config, (store) => store.status())),
    firstAnswer(reach, hasPlatform),
  ])
  const pending = readPending(layout.pending)
  return {
    ...joining,
    ...units,
    nowMs: Date.now(),
    mayWrite: options.root !== '/' || getuid?.() === 0,
    missingPrograms: missingPrograms(options),
    missingUsers: options.root === '/' ? Object.values(USERS).filter((user) => !machine.hasUser(user)) : [],
    files: gatherFiles(steps, machine),
    certificates: gatherCertificates(steps, layout),
    secretsStore: status ?? (isEmpty(layout) ? 'empty' : 'unknown'),
    platform: exists === undefined ? 'unknown' : exists ? 'exists' : 'absent',
    pending: pending === undefined ? 'none' : pending.token === undefined ? 'store keys' : 'all',
    hasUnsealKey,
    configuredUrl: configured?.publicUrl,
    configuredAddress: configuredAddress(etcdEnvironment),
  }
}

/** Asks at the addresses that this machine shall have, then at those that its server uses now. */
async function firstAnswer<T>(
  configs: readonly Config[],
  ask: (config: Config) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (const config of configs) {
    const answer = await ask(config)
    if (answer !== undefined) return answer
  }
  return undefined
}

async function gatherUnits(
  options: SetupOptions,
  machine: Machine,
): Promise<Pick<SetupFacts, 'running' | 'serving'>> {
  const services: readonly Service[] = ['etcd', 'secretsStore', 'broker', 'server']
  const [running, serving] = [new Set<Service>(), new Set<Service>()]
  await Promise.all(
    services.map(async (service) => {
      if (!(await machine.isRunning(UNITS[service]))) return
      running.add(service)
      if (await answers(service, options)) serving.add(service)
    }),
  )
  return { running, serving }
}

function missingPrograms({ engines }: SetupOptions): string[] {
  const folders = (env.PATH ?? '').split(delimiter)
  const hasOpenssl = folders.some((folder) => isExecutable(join(folder, 'openssl')))
  const paths = [join(engines, 'etcd'), join(engines, 'vault')].filter((path) => !isExecutable(path))
  return hasOpenssl ? paths : [...paths, 'openssl']
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function gatherFiles(steps: readonly Step[], machine: Machine): Map<string, FileFact> {
  const folders = steps.flatMap((step) => (step.kind === 'folder' ? [step.path] : []))
  const texts = steps.flatMap((step) => (hasText(step) ? [step.path] : []))
  const files = new Map<string, FileFact>()
  for (const path of [...folders, ...steps.flatMap(writtenBy), ...steps.flatMap(earlierFiles)]) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) continue
    const fact = { mode: found.mode & 0o7777, owner: machine.nameOwner(found.uid) }
    files.set(path, texts.includes(path) ? { ...fact, text: readFileSync(path, 'utf8') } : fact)
  }
  return files
}

const hasText = (step: Step) => step.kind === 'write' || step.kind === 'settings'

function gatherCertificates(steps: readonly Step[], { authority }: Layout): Map<string, CertificateFact> {
  const ours = readCertificate(authority.cert)
  const certificates = new Map<string, CertificateFact>()
  for (const step of steps) {
    if (step.kind !== 'authority' && step.kind !== 'certificate') continue
    const found = readCertificate(step.cert)
    if (found === undefined) continue
    certificates.set(step.cert, {
      notAfterMs: found.validToDate.getTime(),
      names: decodeNames(found.subjectAltName),
      isOurs: ours !== undefined && found.checkIssued(ours) && found.verify(ours.publicKey),
    })
  }
  return certificates
}

/** The first certificate of a PEM file; undefined if there is none that can be read. */
function readCertificate(path: string): X509Certificate | undefined {
  try {
    return new X509Certificate(readFileSync(path))
  } catch {
    return undefined
  }
}

const isEmpty = ({ secretsStoreData }: Layout): boolean =>
  statSync(join(secretsStoreData, 'raft'), { throwIfNoEntry: false }) === undefined
