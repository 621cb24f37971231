// Plans the secrets of an import: one for the credentials in the variables of each service, and one for each secret of the
// Compose file. Each has the command that writes it; values are never part of the plan.

import type { JsonObject } from '@holdfast/contract'
import { safeKey } from '@holdfast/core/admission'
import type { KnownCredentials } from '../credentials.ts'
import type { Draft } from '../draft.ts'
import { mapOf, visitMembers } from '../members.ts'
import type { NamePool } from '../names.ts'
import type { Report } from '../report.ts'
import { booleanOf } from '../source/scalars.ts'
import { isEmpty, memberOf, textOf, type Written, type WrittenMap } from '../source/written.ts'

/** A secret that the user writes before the manifests are applied. */
export interface SecretToWrite {
  readonly path: string
  readonly keys: readonly string[]
  /** Names of the deployments that refer to it. */
  readonly deployments: readonly string[]
  readonly command: string
}

interface Template {
  readonly path: string
  /** The placeholder with which composedEnvironment refers to the key. */
  readonly template: string
}

export interface PlannedSecrets {
  /**
   * Plans one key of the secret of a deployment. Keys with one identity have one value; `sameAs` is the first of them,
   * as in `db MYSQL_PASSWORD`.
   */
  addKey(
    deployment: string,
    key: string,
    identity: string,
  ): Template & { readonly sameAs: string | undefined }
  /** The reference to a secret of the Compose file; undefined if the file does not define it. */
  shared(name: string, deployment: string): (Template & { readonly label: string }) | undefined
  /** The path of the secret of a deployment; undefined if none of its variables is a credential. */
  ownPath(deployment: string): string | undefined
  toWrite(): SecretToWrite[]
}

/** The references of one service to secrets of the Compose file. */
export interface SecretsOfService {
  /** For a variable such as X_FILE with the file of a secret: the variable X and its template. */
  ofFile(
    key: string,
    value: string | null,
  ): { readonly variable: string; readonly template: string } | undefined
}

/** The one key of a secret that was a file in Compose. */
const FILE_KEY = 'value'

interface Shared {
  readonly label: string
  readonly source: string
  readonly deployments: Set<string>
}

export interface SecretParts {
  readonly report: Report
  readonly credentials: KnownCredentials
  /** Labels of secrets, which are unique in a tenant whatever their namespace is. */
  readonly labels: NamePool
  readonly defined: Written | undefined
}

export function planSecrets({ report, credentials, labels, defined }: SecretParts): PlannedSecrets {
  const keys = new Map<string, string[]>()
  const identities = new Map<string, string>()
  const ownLabels = new Map<string, string>()
  const shared = new Map<string, Shared>()
  const map = defined === undefined ? undefined : mapOf(report, defined)
  const ownLabel = (deployment: string): string => {
    const label = ownLabels.get(deployment) ?? labels.claim(deployment)
    ownLabels.set(deployment, label)
    return label
  }
  return {
    addKey(deployment, key, identity) {
      const path = `deployments/${ownLabel(deployment)}`
      const sameAs = identities.get(identity)
      keys.set(deployment, [...(keys.get(deployment) ?? []), key])
      if (sameAs === undefined) identities.set(identity, `${deployment} ${key}`)
      return { path, template: placeholder(ownLabel(deployment), key), sameAs }
    },
    shared(name, deployment) {
      const node = map?.members.get(name)
      if (node === undefined) return undefined
      const known = shared.get(name) ?? readShared(report, credentials, labels, name, node)
      shared.set(name, known)
      known.deployments.add(deployment)
      const { label } = known
      return { label, path: `resources/${label}`, template: placeholder(label, FILE_KEY) }
    },
    ownPath: (deployment) => (keys.has(deployment) ? `deployments/${ownLabel(deployment)}` : undefined),
    toWrite() {
      for (const [name, node] of map?.members ?? [])
        if (!shared.has(name)) report.ignored(node, 'No imported service uses the secret.')
      const own = [...keys].map(([deployment, names]): SecretToWrite => {
        const path = `deployments/${ownLabel(deployment)}`
        return { path, keys: names, deployments: [deployment], command: promptCommand(path, names) }
      })
      return [...own, ...[...shared.values()].map(sharedToWrite)]
    },
  }
}

const placeholder = (label: string, key: string): string => `{{secret.${label}.${key}}}`

const promptCommand = (path: string, keys: readonly string[]): string =>
  ['holdfast secret set', path, ...keys.map((key) => `--prompt ${key}`)].join(' ')

const sharedToWrite = ({ label, source, deployments }: Shared): SecretToWrite => ({
  path: `resources/${label}`,
  keys: [FILE_KEY],
  deployments: [...deployments],
  command: source.replace('<path>', `resources/${label}`),
})

const PROMPT = `holdfast secret set <path> --prompt ${FILE_KEY}`
const SAFE = /^[A-Za-z0-9_./-]+$/

/** Reads one secret of the Compose file: where its value is now, and so how to write it. */
function readShared(
  report: Report,
  credentials: KnownCredentials,
  labels: NamePool,
  name: string,
  node: Written,
): Shared {
  const label = labels.claim(textOf(memberOf(node, 'name')) ?? name)
  const [file = '', variable = ''] = ['file', 'environment'].map((key) => textOf(memberOf(node, key)))
  if (node.kind === 'map') visitSecret(report, node)
  const isShown = (text: string): boolean => SAFE.test(text) && !credentials.isIn(text)
  if (isShown(file))
    return {
      label,
      deployments: new Set(),
      source: `holdfast secret set <path> --from-file ${FILE_KEY}=${file}`,
    }
  if (isShown(variable))
    return {
      label,
      deployments: new Set(),
      source: `printenv ${variable} | holdfast secret set <path> --from-stdin ${FILE_KEY}`,
    }
  return { label, deployments: new Set(), source: PROMPT }
}

const DRIVER = ['Secrets are in the secrets store of the platform.'] as const

function visitSecret(report: Report, node: WrittenMap): void {
  visitMembers(node, {
    report,
    handlers: { name: () => {}, file: () => {}, environment: () => {}, external: () => {} },
    refusals: {
      labels: ['Secrets have no labels.'],
      driver: DRIVER,
      driver_opts: DRIVER,
      template_driver: DRIVER,
    },
  })
  if (booleanOf(textOf(memberOf(node, 'external'))) === true)
    report.changed(
      node,
      'the secret has to be written',
      'The platform does not have the secret yet.',
      'See the command for it.',
    )
}

const AS_VARIABLE = 'Secrets are delivered as variables, not as files.'

/** Translates `secrets` of a service, and adds the entry for the credentials in its variables. */
export function translateSecrets(
  { report, draft }: { readonly report: Report; readonly draft: Draft },
  node: Written | undefined,
  secrets: PlannedSecrets,
): SecretsOfService {
  const entries: JsonObject[] = []
  const files = new Map<string, string>()
  for (const item of node?.kind === 'list' ? node.items : []) {
    const name = textOf(item.kind === 'map' ? memberOf(item, 'source') : item) ?? ''
    const found = secrets.shared(name, draft.name)
    if (found === undefined) {
      report.refused(item, 'The file defines no such secret.')
      continue
    }
    const entry = uniqueEntry(entries, name)
    const target = textOf(memberOf(item, 'target')) ?? name
    files.set(target.startsWith('/') ? target : `/run/secrets/${target}`, found.template)
    entries.push({ name: entry, vault_path: found.path, anchor: 'external' })
    report.changed(
      item,
      `the value is in the variable ${entry}_${FILE_KEY}`,
      AS_VARIABLE,
      `Write the secret: see the command for ${found.path}.`,
    )
  }
  if (node !== undefined && node.kind !== 'list' && !isEmpty(node)) report.refused(node, 'It is not a list.')
  if (entries.length > 0) draft.fields.secrets = entries
  return {
    ofFile(key, value) {
      const template = key.endsWith('_FILE') && value !== null ? files.get(value) : undefined
      return template === undefined ? undefined : { variable: key.replace(/_{1,2}FILE$/, ''), template }
    },
  }
}

function uniqueEntry(entries: readonly JsonObject[], name: string): string {
  // A name of the form of a credential is not repeated.
  const valid = safeKey(name) === name ? name.replace(/[^A-Za-z0-9_]/g, '_') : 'SECRET'
  return entries.some((entry) => entry.name === valid) ? `${valid}_${entries.length + 1}` : valid
}

const PREFIXES = ['SECRET', 'HOLDFAST', 'HOLDFAST_SECRET', 'IMPORTED_SECRET']

/** Adds the reference to the secret of a deployment, under a prefix that none of its variables has. */
export function addOwnSecret(draft: Draft, path: string, variables: readonly string[]): void {
  const before = Array.isArray(draft.fields.secrets) ? draft.fields.secrets : []
  const taken = [...variables, ...before.map((entry) => `${String(nameIn(entry))}_`)]
  const free = PREFIXES.find((prefix) => !taken.some((name) => name.startsWith(`${prefix}_`)))
  const name = free ?? `SECRET_${taken.length}`
  draft.fields.secrets = [...before, { name, vault_path: path, anchor: 'external' }]
}

const nameIn = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined
