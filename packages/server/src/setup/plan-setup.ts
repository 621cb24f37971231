// Decides which steps of a setup remain: all those whose state the machine has not reached, or the reasons why setup cannot
// continue. A machine that is set up needs no step.

import { desiredSteps } from './desired-steps.ts'
import type { SetupFacts } from './facts.ts'
import { explainAddress, explainJoin } from './join/explain-join.ts'
import { planNetwork } from './join/network.ts'
import { remainingJoin } from './join/remaining-join.ts'
import { type Layout, layoutBelow, type SetupOptions } from './layout.ts'
import {
  type CertificateStep,
  type IdentityStep,
  type StartStep,
  type Step,
  type UnsealStep,
  writtenBy,
} from './step.ts'

export type SetupPlan =
  | { readonly kind: 'steps'; readonly steps: readonly Step[] }
  /** Each reason is one sentence on the obstacle and one on what the operator can do. */
  | { readonly kind: 'refused'; readonly reasons: readonly string[] }

/** A certificate is renewed when it is valid for less than this time. */
const RENEW_MS = 30 * 24 * 3_600_000

export function planSetup(facts: SetupFacts, options: SetupOptions): SetupPlan {
  const steps: Step[] = []
  const { etcdEnvironment } = layoutBelow(options.root)
  const network = planNetwork({ ...facts, etcdEnvironment: facts.files.get(etcdEnvironment)?.text }, options)
  for (const step of desiredSteps(options, network)) {
    const remaining = remainderOf(step, facts, steps)
    if (remaining !== undefined) steps.push(remaining)
  }
  const layout = layoutBelow(options.root)
  const obstacles = steps.flatMap((step) => explainStep(step, facts, layout))
  const joining = [...explainAddress(facts, options), ...explainJoin(facts, options)]
  const reasons = [...explainMachine(facts, options), ...joining, ...obstacles]
  return reasons.length > 0 ? { kind: 'refused', reasons: [...new Set(reasons)] } : { kind: 'steps', steps }
}

/** The step as it must be performed, or undefined if its state is reached. `before` are the steps planned so far. */
function remainderOf(step: Step, facts: SetupFacts, before: readonly Step[]): Step | undefined {
  switch (step.kind) {
    case 'folder':
      return isOwned(step, facts) ? undefined : step
    case 'write':
      return isOwned(step, facts) && facts.files.get(step.path)?.text === step.content ? undefined : step
    case 'key':
      return step.files.every((file) => isOwned(file, facts)) ? undefined : step
    case 'authority':
      return facts.certificates.has(step.cert) ? undefined : step
    case 'certificate':
      return isCurrent(step, facts, before) ? undefined : step
    case 'start':
      return remainingStart(step, facts, before)
    case 'unseal':
      return remainingUnseal(step, facts, before)
    case 'identity':
      return facts.files.has(step.config.path) && hasSecretId(step, facts) ? undefined : step
    case 'platform':
      if (facts.pending === 'store keys' && facts.platform !== 'absent') return { ...step, reissue: true }
      return facts.platform === 'exists' ? undefined : step
    case 'show':
      return facts.pending !== 'none' || before.some(makesCredentials) ? step : undefined
    case 'deliver':
      return isOwned(step, facts) || isOwnedEarlier(step, facts) ? undefined : step
    default:
      return remainingJoin(step, facts, before)
  }
}

const hasSecretId = ({ secretId }: IdentityStep, facts: SetupFacts): boolean =>
  isOwned(secretId, facts) || isOwnedEarlier(secretId, facts)

const isOwnedEarlier = (file: EarlierFile, facts: SetupFacts): boolean =>
  file.earlier !== undefined && isOwned({ ...file, path: file.earlier }, facts)

interface EarlierFile {
  readonly earlier?: string
  readonly path: string
  readonly mode: number
  readonly owner: string
}

function isOwned(
  { path, mode, owner }: { readonly path: string; readonly mode: number; readonly owner: string },
  { files }: SetupFacts,
): boolean {
  const found = files.get(path)
  return found?.mode === mode && (found.owner === undefined || found.owner === owner)
}

function isCurrent(step: CertificateStep, facts: SetupFacts, before: readonly Step[]): boolean {
  const found = facts.certificates.get(step.cert)
  if (found === undefined || !isOwned({ path: step.key, mode: 0o600, owner: step.owner }, facts)) return false
  if (!found.isOurs || before.some(({ kind }) => kind === 'authority')) return false
  if (!step.names.every((name) => found.names.includes(name))) return false
  if (step.from === 'authority') return found.notAfterMs - facts.nowMs > RENEW_MS
  return found.notAfterMs >= (facts.invited?.notAfterMs.get(step.cert) ?? 0)
}

function remainingStart(step: StartStep, facts: SetupFacts, before: readonly Step[]): Step | undefined {
  // A process that runs and does not answer was started before its files changed.
  if (!facts.serving.has(step.service))
    return facts.running.has(step.service) ? { ...step, action: 'restart' } : step
  const written = before.flatMap(writtenBy)
  return step.uses.some((path) => written.includes(path)) ? { ...step, action: 'restart' } : undefined
}

/** A restarted secrets store is sealed, and needs its key again. */
function remainingUnseal(step: UnsealStep, facts: SetupFacts, before: readonly Step[]): Step | undefined {
  const restarts = before.some(({ kind, ...rest }) => 'service' in rest && rest.service === 'secretsStore')
  if (facts.secretsStore === 'unsealed' && !restarts) return undefined
  if (facts.secretsStore === 'empty') return step
  return { ...step, keyFrom: facts.pending === 'none' ? 'key file' : 'pending' }
}

const makesCredentials = (step: Step): boolean =>
  step.kind === 'platform' || (step.kind === 'unseal' && step.keyFrom === 'new store')

function explainMachine(facts: SetupFacts, { root, publicUrl }: SetupOptions): string[] {
  const { configuredUrl, missingPrograms, missingUsers, secretsStore, platform } = facts
  const { serverConfig: config, secretsStoreData } = layoutBelow(root)
  return [
    ...(facts.mayWrite ? [] : ['Setup writes below /etc and starts units. Run it as root.']),
    ...missingPrograms.map(
      (path) => `${path} is missing. Install the packages holdfast-server, holdfast-engines and openssl.`,
    ),
    ...missingUsers.map(
      (user) =>
        `There is no user ${user}. The packages holdfast-server and holdfast-engines create it: install them.`,
    ),
    ...(secretsStore === 'empty' && platform === 'exists'
      ? [
          `etcd has a platform, and the secrets store in ${secretsStoreData} is empty. Restore that folder from a backup.`,
        ]
      : []),
    ...(configuredUrl === undefined || configuredUrl === publicUrl
      ? []
      : [
          `${config} has the publicUrl ${configuredUrl}. Pass that one, or change the file first and restart the server and the broker.`,
        ]),
  ]
}

function explainStep(step: Step, facts: SetupFacts, layout: Layout): string[] {
  if (step.kind === 'unseal' && step.keyFrom === 'key file' && !facts.hasUnsealKey) return [NEEDS_UNSEAL_KEY]
  if (step.kind === 'unseal' && step.keyFrom === 'joining store' && !facts.hasUnsealKey)
    return [JOIN_NEEDS_UNSEAL_KEY]
  if (step.kind === 'identity' && lacksOperator(facts)) return [explainIdentity(step)]
  if (step.kind === 'certificate' && step.from === 'authority' && lacksAuthorityKey(facts, layout))
    return [explainAuthority(step, layout)]
  return []
}

/** The operator may keep the key of the authority elsewhere while no certificate is due. */
const lacksAuthorityKey = ({ certificates, files }: SetupFacts, { authority }: Layout): boolean =>
  certificates.has(authority.cert) && !files.has(authority.key)

const explainAuthority = ({ cert }: CertificateStep, { authority }: Layout): string =>
  `${cert} must be issued, and the key of the authority is not at ${authority.key}. Copy it there for this run.`

const NEEDS_UNSEAL_KEY =
  'The secrets store has data and is sealed, stopped or about to be restarted, which seals it. Run setup again with --unseal-key-file FILE.'

const JOIN_NEEDS_UNSEAL_KEY =
  'The secrets store of this machine needs the unseal key of the platform to join the others. Run setup again with --unseal-key-file FILE.'

/** An operator's token exists only until the first setup ends. */
const lacksOperator = ({ secretsStore, pending }: SetupFacts): boolean =>
  secretsStore !== 'empty' && pending === 'none'

const explainIdentity = ({ identity, config }: IdentityStep): string =>
  `The identity ${identity} of the secrets store is incomplete on this machine, and setup no longer has an operator's token. Restore ${config.path} and its secret id from a backup, or issue them with: holdfast-server init --operator-token-file FILE`
