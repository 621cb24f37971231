// Finds out from an agent's report which secret of a deployment cannot be resolved, and why. The report came over a
// network, so only secret names in the spec and known causes are accepted. See docs/design/secrets.md#dispatch

import type { DeploymentSpec, Observation } from '@holdfast/contract'
import { SECRET_UNRESOLVED } from '../node/observe-replica.ts'
import { parseTemplate } from '../secrets/placeholders.ts'
import { credentialPath } from '../secrets/vault-path.ts'

/** Causes why one secret cannot be resolved. Each text completes a sentence that names the secret. */
const CAUSES = {
  denied: 'cannot be read: the policy of the secrets store denies access',
  missing: 'has no material',
  replaced:
    'is not the version that was written: the secrets store was restored from a backup and has another document under its number',
  missing_key: 'lacks a key that a template names',
  store_unavailable: 'cannot be read: the secrets store does not answer',
  conflict: 'sets a variable that the environment sets as well',
  too_large: 'makes the environment too large to start a program with',
  malformed: 'has a key or value that is not valid for a variable',
} as const

/** Causes that concern all secrets of a container, because no secret was read. */
const GENERAL = {
  broker_unavailable: 'no server that reads secrets can be reached',
  no_answer: 'the server did not answer in time',
  not_assigned: 'the server does not know this replica on this node',
  already_answered: 'the server has already answered this attempt',
  too_many_asks: 'the node sends too many requests',
  answer_unusable: 'the answer of the server was for another container',
  unknown: 'the node did not report why',
} as const

type Cause = keyof typeof CAUSES
type GeneralCause = keyof typeof GENERAL

export interface SecretTrouble {
  /** The name of the secret entry, or the variable of a constant or template; null if all secrets are concerned. */
  readonly secret: string | null
  readonly cause: Cause | GeneralCause
  /** The key that a template names and the version does not have; absent if an older server did not report it. */
  readonly missing?: { readonly version: number; readonly key: string; readonly variable: string }
}

const isCause = (text: string): text is Cause => Object.hasOwn(CAUSES, text)
const isGeneral = (text: string): text is GeneralCause => Object.hasOwn(GENERAL, text)
const ABOUT = /^([A-Za-z0-9_]+): ([a-z_]+)(?: (\d{1,9}) (\S+) (\S+))?$/

/** Returns undefined if the observation is not about an unresolved secret. */
function secretTroubleOf(
  spec: DeploymentSpec,
  seen: Pick<Observation, 'reason' | 'about'> | undefined,
): SecretTrouble | undefined {
  if (seen?.reason !== SECRET_UNRESOLVED) return undefined
  const about = seen.about ?? ''
  const [, secret = '', cause = '', version, key = '', variable = ''] = ABOUT.exec(about) ?? []
  if (isCause(cause) && isNamed(spec, secret)) {
    const isUsed = version !== undefined && usesKey(spec, secret, key, variable)
    return { secret, cause, ...(isUsed ? { missing: { version: Number(version), key, variable } } : {}) }
  }
  return { secret: null, cause: isGeneral(about) ? about : 'unknown' }
}

/** Whether the template of the variable names this key of the secret. */
function usesKey(spec: DeploymentSpec, secret: string, key: string, variable: string): boolean {
  const path = spec.secrets.find(({ name }) => name === secret)?.vault_path
  const { composedEnvironment: templates = {} } = spec
  const template = Object.hasOwn(templates, variable) ? templates[variable] : undefined
  if (path === undefined || template === undefined) return false
  const { label } = credentialPath(path)
  const parts = parseTemplate(template) ?? []
  return parts.some((part) => typeof part !== 'string' && part.resource === label && part.key === key)
}

function isNamed({ secrets, composedEnvironment, environment }: DeploymentSpec, name: string): boolean {
  return (
    secrets.some((entry) => entry.name === name) ||
    [composedEnvironment, environment].some((variables) => Object.hasOwn(variables ?? {}, name))
  )
}

/** One sentence about an unresolved secret, followed by what to do if a fix is known. */
export function secretTroubleText(
  { secrets, name }: Pick<DeploymentSpec, 'secrets' | 'name'>,
  { secret, cause, missing }: SecretTrouble,
): string {
  if (!isCause(cause)) return `The secrets cannot be resolved: ${GENERAL[cause]}.`
  const path = secrets.find((entry) => entry.name === secret)?.vault_path
  if (path === undefined) return `The variable ${secret} ${CAUSES[cause]}.`
  const text = `Secret ${secret} (${path}) ${CAUSES[cause]}.`
  if (cause !== 'missing' && cause !== 'missing_key' && cause !== 'replaced') return text
  if (missing !== undefined) {
    const { key, variable, version } = missing
    return `Secret ${secret} (${path}): \`${key}\`, which ${variable} uses, is not in version ${version}. Add it with \`holdfast secret set ${path} --add --prompt ${key}\`, then run \`holdfast rollout restart ${name}\`.`
  }
  // The first version of a secret path is used without a restart; a later version needs a requested restart.
  const write = `${text} Write it with \`holdfast secret set ${path}\``
  const restart = `\`holdfast rollout restart ${name}\``
  return cause === 'missing'
    ? `${write}; if an earlier version existed, run ${restart} to use the new one.`
    : `${write}, then run ${restart}.`
}

/** The unresolved secrets that replicas report: each secret and cause once, in the order of the replicas. */
export function unresolvedSecrets(
  spec: DeploymentSpec,
  seen: readonly (Pick<Observation, 'reason' | 'about'> | undefined)[],
): SecretTrouble[] {
  const troubles = seen.flatMap((one) => secretTroubleOf(spec, one) ?? [])
  return [...new Map(troubles.map((one) => [keyOf(one), one])).values()]
}

const keyOf = ({ secret, cause, missing }: SecretTrouble): string =>
  JSON.stringify([secret, cause, missing?.version, missing?.key, missing?.variable])
