// Which secret of a deployment is not to be had, and why, from the word that an agent passed on. Nothing is taken from that
// word but names that the spec itself has and causes that are listed here: it came over a network, from a node.

import type { DeploymentSpec, Observation } from '@holdfast/contract'
import { SECRET_UNRESOLVED } from '../node/observe-replica.ts'

/** Each completes a sentence that names the secret. */
const CAUSES = {
  denied: 'may not be read: the policy of the secrets store refuses it',
  missing: 'has no material',
  missing_key: 'lacks a key that a template names',
  store_unavailable: 'cannot be read: the secrets store does not answer',
  conflict: 'gives a variable that the environment has from elsewhere too',
  too_large: 'makes the environment larger than a program can be started with',
  malformed: 'holds a key or a value that no variable can have',
} as const

/** Of all secrets of a container: nobody came to look at one of them. */
const GENERAL = {
  broker_unavailable: 'no server that reads secrets can be reached',
  no_answer: 'the server did not answer in time',
  not_assigned: 'the server does not know the replica as one of this node',
  already_answered: 'the server has answered this attempt before',
  too_many_asks: 'the node asks more often than it may',
  answer_unusable: 'the answer of the server was not for this container',
  unknown: 'the node does not say why',
} as const

type Cause = keyof typeof CAUSES
type GeneralCause = keyof typeof GENERAL

export interface SecretTrouble {
  /** The name of the entry, or the variable of a template; null where it is none of them in particular. */
  readonly secret: string | null
  readonly cause: Cause | GeneralCause
}

const isCause = (text: string): text is Cause => Object.hasOwn(CAUSES, text)
const isGeneral = (text: string): text is GeneralCause => Object.hasOwn(GENERAL, text)
const ABOUT = /^([A-Za-z0-9_]+): ([a-z_]+)$/

/** Undefined where the observation is of something else. */
function secretTroubleOf(
  spec: DeploymentSpec,
  seen: Pick<Observation, 'reason' | 'about'> | undefined,
): SecretTrouble | undefined {
  if (seen?.reason !== SECRET_UNRESOLVED) return undefined
  const about = seen.about ?? ''
  const [, secret = '', cause = ''] = ABOUT.exec(about) ?? []
  if (isCause(cause) && isNamed(spec, secret)) return { secret, cause }
  return { secret: null, cause: isGeneral(about) ? about : 'unknown' }
}

function isNamed({ secrets, composedEnvironment, environment }: DeploymentSpec, name: string): boolean {
  return (
    secrets.some((entry) => entry.name === name) ||
    [composedEnvironment, environment].some((variables) => Object.hasOwn(variables ?? {}, name))
  )
}

/** One sentence, and what helps where that is known. */
export function secretTroubleText(
  { secrets, name }: Pick<DeploymentSpec, 'secrets' | 'name'>,
  { secret, cause }: SecretTrouble,
): string {
  if (!isCause(cause)) return `The secrets cannot be resolved: ${GENERAL[cause]}.`
  const path = secrets.find((entry) => entry.name === secret)?.vault_path
  if (path === undefined) return `The variable ${secret} ${CAUSES[cause]}.`
  const said = `Secret ${secret} (${path}) ${CAUSES[cause]}.`
  if (cause !== 'missing' && cause !== 'missing_key') return said
  // The first version of a path is taken by itself, a later one by whoever asks for it (DECISIONS 5).
  const write = `${said} Write it with \`holdfast secret set ${path}\``
  const take = `\`holdfast rollout restart ${name}\``
  return cause === 'missing'
    ? `${write}; if there was a version before, ${take} takes the new one.`
    : `${write}, then run ${take}.`
}

/** What the replicas of a deployment say of its secrets: each secret and cause once, in the order of the replicas. */
export function unresolvedSecrets(
  spec: DeploymentSpec,
  seen: readonly (Pick<Observation, 'reason' | 'about'> | undefined)[],
): SecretTrouble[] {
  const troubles = seen.flatMap((one) => secretTroubleOf(spec, one) ?? [])
  return [...new Map(troubles.map((one) => [`${one.secret}: ${one.cause}`, one])).values()]
}
