// What the containers of a deployment are made of, and the text whose SHA-256 is templateHash. DECISIONS 4: the hash decides
// what is recreated, so it is over what a running container cannot take on: digest, command, args, environment, secrets,
// secretsVersion, healthCheck, volumes, limits, labels. Scaling, placement and the stop grace period restart nothing.

import {
  type ContainerTemplate,
  canonicalJson,
  type DeploymentSpec,
  type SecretEntry,
  type TemplateSecret,
} from '@holdfast/contract'
import { parseImageReference } from '../image-reference.ts'
import { credentialPath } from '../secrets/vault-path.ts'

/** By label: the version of each credential. */
export type Pins = { readonly [label: string]: number }

export function containerTemplate(spec: DeploymentSpec, digest: string, pins: Pins = {}): ContainerTemplate {
  const { secrets, composedEnvironment } = spec
  return {
    name: spec.name,
    image: pinnedImage(spec.image, digest),
    ...(spec.command === undefined ? {} : { command: spec.command }),
    ...(spec.args === undefined ? {} : { args: spec.args }),
    environment: spec.environment ?? {},
    ...(secrets.length === 0 ? {} : { secrets: secrets.map((entry) => templateSecret(entry, pins)) }),
    ...(composedEnvironment === undefined ? {} : { composedEnvironment }),
    ...(spec.healthCheck === undefined ? {} : { healthCheck: spec.healthCheck }),
    ...(spec.limits === undefined ? {} : { limits: spec.limits }),
    labels: spec.labels ?? {},
    stopGracePeriod: spec.stopGracePeriod,
  }
}

/** Hashing is done where a hash function is at hand; this package has none. A restart is another template of the same. */
export function canonicalTemplate(
  spec: DeploymentSpec,
  digest: string,
  { pins, restartRevision }: { readonly pins?: Pins; readonly restartRevision?: number } = {},
): string {
  const { name: _name, stopGracePeriod: _grace, ...made } = containerTemplate(spec, digest, pins)
  const { secretsVersion, volumes = [] } = spec
  const restart = restartRevision === undefined ? {} : { restartRevision }
  return canonicalJson({ ...made, secrets: made.secrets ?? [], secretsVersion, volumes, ...restart })
}

function templateSecret({ name, vault_path }: SecretEntry, pins: Pins): TemplateSecret {
  return { name, ...credentialPath(vault_path), version: pinOf(pins, vault_path) }
}

/** The version that a path is pinned to; null where the credential's first one counts. */
export function pinOf(pins: Pins = {}, path: string): number | null {
  const { label } = credentialPath(path)
  return Object.hasOwn(pins, label) ? (pins[label] ?? null) : null
}

const IMPLIED_PORT = ':443'

/** An engine knows `docker.io`, not `docker.io:443`, so the port that HTTPS implies is left out. */
function pinnedImage(reference: string, digest: string): string {
  const parsed = parseImageReference(reference)
  if (parsed === undefined) throw new TypeError('a stored image is outside the grammar')
  const host = parsed.host.endsWith(IMPLIED_PORT) ? parsed.host.slice(0, -IMPLIED_PORT.length) : parsed.host
  return `${host}/${parsed.repository}@${digest}`
}
