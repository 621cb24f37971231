// Generates bodies that POST /deployments accepts, and changes that PUT accepts. The generators follow the documented
// fields and not the code of core, so that tests of core and of HTTP find a rule that rejects valid bodies.

import type { JsonObject } from '@holdfast/contract'
import fc from 'fast-check'

export interface ArbitraryOptions {
  /** Image references that generated deployments may use; the server's registry check must accept all of them. */
  readonly images: readonly string[]
  /** Names of deployments with a healthCheck and without dependencies. If empty, no dependsOn is generated. */
  readonly dependencies?: readonly string[]
  readonly maxReplicas?: number
  /** If true, also generates references to secrets, secret values, and templates that use the secrets. */
  readonly secrets?: boolean
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'

const textOf = (characters: string, minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength })

/** A name that begins with a letter and ends with a letter or digit. */
const arbitraryName: fc.Arbitrary<string> = fc
  .tuple(textOf(LOWER, 1, 1), textOf(`${LOWER}${DIGITS}-`, 0, 40), textOf(LOWER + DIGITS, 0, 1))
  .map(([first, middle, last]) => (middle === '' ? first + last : `${first}${middle}${last || 'z'}`))
  .filter((name) => name !== 'etcd' && name !== 'holdfast-etcd')

/** Generates any text that can be an argument of a process. */
const arbitraryText = fc.oneof(
  textOf(`${LOWER}${DIGITS} /:._-`, 0, 24),
  fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .filter((text) => !text.includes('\0') && text.isWellFormed()),
)

const arbitraryLabelKey = fc
  .tuple(fc.constantFrom('', 'example.com/', 'a.b-c.example/'), textOf(LOWER + DIGITS, 1, 12))
  .map(([prefix, name]) => prefix + name)
  .filter((key) => !key.startsWith('caddy'))
const arbitraryLabelValue = textOf(`${LOWER}${LOWER.toUpperCase()}${DIGITS} ._-/:`, 0, 30)

/** Names of environment variables that do not look like the name of a credential. */
const arbitraryVariable = fc
  .tuple(fc.constantFrom('LOG_', 'APP_', '_', 'x'), textOf('ABCDEF0123456789_', 0, 6))
  .map(([start, rest]) => start + rest)

const milliseconds = (from: number, to: number): fc.Arbitrary<string> =>
  fc.integer({ min: from, max: to }).chain((ms) => {
    const forms = [`${ms}ms`]
    if (ms % 1000 === 0) forms.push(`${ms / 1000}s`)
    if (ms % 60_000 === 0) forms.push(`${ms / 60_000}m`)
    return fc.constantFrom(...forms)
  })
const duration = (fromSeconds: number, toSeconds: number): fc.Arbitrary<string> =>
  fc.oneof(
    milliseconds(fromSeconds * 1000, toSeconds * 1000),
    fc.integer({ min: fromSeconds, max: toSeconds }).map((seconds) => `${seconds}s`),
  )

const arbitraryCommand = fc.array(arbitraryText, { maxLength: 4 })

const arbitraryHealthCheck = fc.record(
  {
    type: fc.constant('exec'),
    command: fc
      .array(arbitraryText, { minLength: 1, maxLength: 4 })
      .filter(([program = '']) => program.trim() !== '' && program !== 'NONE'),
    retries: fc.integer({ min: 3, max: 50 }),
    timeout: duration(10, 600),
    interval: duration(5, 600),
    startPeriod: duration(0, 600),
  },
  { requiredKeys: ['type', 'command'] },
)

const arbitraryConstraint = fc.oneof(
  fc.record({
    label: arbitraryLabelKey,
    operator: fc.constantFrom('in', 'notIn'),
    values: fc.array(arbitraryLabelValue, { minLength: 1, maxLength: 3 }),
  }),
  fc.record(
    { label: arbitraryLabelKey, operator: fc.constantFrom('exists', 'notExists'), values: fc.constant([]) },
    { requiredKeys: ['label', 'operator'] },
  ),
)

const COUNTRIES = ['AT', 'CH', 'DE', 'FR', 'US', 'ZZ', 'XX']
/** Names of regions in the default configuration. */
const REGIONS = ['eu', 'eea', 'dach', 'nordics', 'na', 'apac']

/** Residency rules in which no country is listed twice, nor both demanded and blocked. */
const arbitraryResidency = fc
  .record(
    {
      country: fc.constantFrom(...COUNTRIES),
      region: fc.constantFrom(...REGIONS),
      blockedCountries: fc.shuffledSubarray(COUNTRIES),
    },
    { requiredKeys: [] },
  )
  .filter(
    ({ country, blockedCountries = [] }) => country === undefined || !blockedCountries.includes(country),
  )

const arbitraryPlacement = fc.record(
  {
    constraints: fc.array(arbitraryConstraint, { maxLength: 3 }),
    affinity: fc.array(arbitraryName, { maxLength: 3 }),
    antiAffinity: fc.array(arbitraryName, { maxLength: 3 }),
    spread: arbitraryLabelKey,
    residency: arbitraryResidency,
  },
  { requiredKeys: [] },
)

const amounts = (memoryBytes: fc.Arbitrary<number>) =>
  fc.record({ cpuMillis: fc.nat({ max: 64_000 }), memoryBytes }, { requiredKeys: [] })

/** Admission refuses smaller limits, except 0, which means no limit. */
const LEAST_MEMORY_LIMIT = 6 * 1024 * 1024
const memoryLimit = fc.oneof(
  fc.constant(0),
  fc.integer({ min: LEAST_MEMORY_LIMIT, max: Number.MAX_SAFE_INTEGER }),
)

const arbitraryUpdate = (maxReplicas: number) =>
  fc.record(
    {
      order: fc.constantFrom('start-first', 'stop-first'),
      parallelism: fc.integer({ min: 1, max: maxReplicas }),
      failureAction: fc.constantFrom('pause', 'rollback'),
      progressDeadline: duration(1, 3600),
    },
    { requiredKeys: [] },
  )

/** Route hosts that are random enough to be unique in a test run, because a route may belong to only one deployment. */
const arbitraryHost = fc.noBias(textOf('0123456789abcdef', 24, 24)).map((text) => `h${text}.example`)

const arbitraryRoutes = fc.array(
  fc.record(
    {
      host: arbitraryHost,
      path: fc.constantFrom('/', '/api', '/a/b.c/~d', '/A-1/_'),
      port: fc.integer({ min: 1, max: 65_535 }),
    },
    { requiredKeys: ['host', 'port'] },
  ),
  { maxLength: 4 },
)

const map = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.dictionary(key, value, { maxKeys: 5 })

/** Generates every field that both POST and PUT accept, with null where null is allowed. */
function optionalFields({ dependencies = [], maxReplicas = 100 }: ArbitraryOptions) {
  const dependsOn = fc.dictionary(fc.constantFrom('', ...dependencies), fc.constantFrom('healthy', 'started'))
  const fields = {
    replicas: fc.nat({ max: maxReplicas }),
    healthCheck: arbitraryHealthCheck,
    environment: map(arbitraryVariable, arbitraryText),
    secretsVersion: fc.nat({ max: 9 }),
    volumes: fc.constant([]),
    placement: arbitraryPlacement,
    dependsOn: dependencies.length === 0 ? fc.constant({}) : dependsOn.map(({ '': _, ...named }) => named),
    resources: amounts(fc.maxSafeNat()),
    limits: amounts(memoryLimit),
    update: arbitraryUpdate(maxReplicas),
    labels: map(arbitraryLabelKey, arbitraryLabelValue),
    command: arbitraryCommand,
    args: arbitraryCommand,
    stopGracePeriod: duration(0, 3600),
    routes: arbitraryRoutes,
    nodeId: fc.constant(null),
  }
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, fc.option<unknown>(value, { freq: 8, nil: null })]),
  )
}

const LABELS = ['db', 'orders-db', 'x', '9z', `a${'-b'.repeat(31)}`]
const KEYS = ['a', 'password', '_', 'API_KEY', 'toString', '__proto__']

const arbitraryValues = fc.dictionary(
  fc.constantFrom(...KEYS),
  arbitraryText.filter((text) => text !== ''),
  { minKeys: 1, maxKeys: 3 },
)

/** A valid `generate` field of a secret: a format with enough entropy, and keys that have no value in `values`. */
const arbitraryGenerate = fc
  .tuple(
    fc.subarray(['g', 'G_1', 'token'], { minLength: 1 }),
    fc.constantFrom(
      ...[{}, { bytes: 16 }, { bytes: 3072 }, { bytes: 2048, encoding: 'hex' }, { encoding: 'base64' }],
      ...[{ length: 22 }, { length: 4096 }, { length: 20, charset: 'ascii' }, { charset: 'urlsafe' }],
    ),
  )
  .map(([keys, way]) => ({ keys, ...way }))

/** All fields of a secret reference except its name and path. */
const arbitraryEntryParts = fc.record(
  {
    anchor: fc.constantFrom('process', 'external'),
    rotation: fc.constant('restart'),
    values: arbitraryValues,
    generate: arbitraryGenerate,
  },
  { requiredKeys: [] },
)

/** A template that uses the secret with the given label; single braces in a template are plain text. */
const arbitraryTemplate = fc
  .tuple(
    fc.constantFrom('', 'postgres://app:', '{', '{x} '),
    fc.constantFrom(...KEYS),
    fc.constantFrom('', '@db', ' }'),
  )
  .map(
    ([before, key, after]) =>
      (label: string) =>
        `${before}{{secret.${label}.${key}}}${after}`,
  )

/** Secrets and templates of a deployment, generated together because a template may only use declared secrets. */
const arbitrarySecrets: fc.Arbitrary<{ [field: string]: unknown }> = fc
  .tuple(
    fc.subarray(LABELS),
    fc.array(arbitraryEntryParts, { minLength: LABELS.length, maxLength: LABELS.length }),
    fc.dictionary(fc.constantFrom('URL', 'u', '_V1'), arbitraryTemplate),
  )
  .map(([labels, parts, templates]) => ({
    secrets: labels.map((label, index) => ({
      name: `S${index}`,
      vault_path: `${index % 2 === 0 ? 'resources' : 'deployments'}/${label}`,
      ...parts[index],
    })),
    composedEnvironment: Object.fromEntries(
      labels.flatMap((label, index) =>
        Object.entries(templates)
          .slice(index, index + 1)
          .map(([name, template]) => [name, template(label)]),
      ),
    ),
  }))

const NO_SECRETS: fc.Arbitrary<{ [field: string]: unknown }> = fc.record(
  { secrets: fc.constantFrom([], null), composedEnvironment: fc.constantFrom({}, null) },
  { requiredKeys: [] },
)

function withSecrets(
  body: fc.Arbitrary<{ [field: string]: unknown }>,
  { secrets = false }: ArbitraryOptions,
): fc.Arbitrary<{ [field: string]: unknown }> {
  return fc
    .tuple(body, secrets ? arbitrarySecrets : NO_SECRETS)
    .map(([fields, more]) => ({ ...fields, ...more }))
}

/** A generated body after a round trip through JSON text, with its keys in any order, as the server receives the body. */
const asSent = (body: fc.Arbitrary<{ [field: string]: unknown }>): fc.Arbitrary<JsonObject> =>
  body
    .chain((fields) => fc.shuffledSubarray(Object.entries(fields), { minLength: Object.keys(fields).length }))
    .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))))

/** Generates a body that POST /deployments accepts. */
export function arbitraryDeployment(options: ArbitraryOptions): fc.Arbitrary<JsonObject> {
  const required = {
    kind: fc.constant('Deployment'),
    name: arbitraryName,
    image: fc.constantFrom(...options.images),
  }
  const body = fc.record(
    { ...required, ...optionalFields(options) },
    { requiredKeys: ['kind', 'name', 'image'] },
  )
  return asSent(withSecrets(body, options)).filter((body) => !dependsOnItself(body))
}

/** Generates a body without `name` and `uid` that PUT accepts for any deployment. */
export function arbitraryChange(options: ArbitraryOptions): fc.Arbitrary<JsonObject> {
  const fields = { kind: fc.constant('Deployment'), image: fc.constantFrom(...options.images) }
  return asSent(
    withSecrets(fc.record({ ...fields, ...optionalFields(options) }, { requiredKeys: [] }), options),
  )
}

function dependsOnItself({ name, dependsOn }: JsonObject): boolean {
  return typeof name === 'string' && typeof dependsOn === 'object' && dependsOn !== null && name in dependsOn
}
