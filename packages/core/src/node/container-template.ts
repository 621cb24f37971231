// Builds the container template of a deployment, and the canonical text whose SHA-256 is the template hash. A changed
// hash recreates containers, so the text contains only fields that a running container cannot adopt: digest, command,
// args, environment, secrets, secretsVersion, healthCheck, volumes, networks, limits and labels.

import {
  asVolumeId,
  type ContainerTemplate,
  canonicalJson,
  capabilitiesNeeded,
  type DeploymentSpec,
  defined,
  type SecretEntry,
  type TemplateMount,
  type TemplateOptions,
  type TemplateSecret,
} from '@holdfast/contract'
import { parseImageReference } from '../image-reference.ts'
import { memoizeByObject } from '../scheduling/memoize.ts'
import { credentialPath } from '../secrets/vault-path.ts'

type VolumeMount = NonNullable<DeploymentSpec['volumes']>[number]

/** Maps the label of each credential to its pinned version. */
export type Pins = { readonly [label: string]: number }

/** Maps the id of each volume that is mounted as tmpfs to its size in bytes. */
export type TmpfsSizes = { readonly [volume: string]: number }

export function containerTemplate(
  spec: DeploymentSpec,
  digest: string,
  pins: Pins = {},
  sizes: TmpfsSizes = {},
): ContainerTemplate {
  return {
    name: spec.name,
    image: pinnedImage(spec.image, digest),
    environment: spec.environment ?? {},
    ...templateOptions(spec, pins, sizes),
    labels: spec.labels ?? {},
    stopGracePeriod: spec.stopGracePeriod,
  }
}

/** The optional members of the template. Each of them needs a capability of the agent. */
function templateOptions(spec: DeploymentSpec, pins: Pins, sizes: TmpfsSizes): TemplateOptions {
  const {
    command,
    args,
    secrets,
    composedEnvironment,
    healthCheck,
    limits,
    volumes = [],
    networks = [],
  } = spec
  return {
    ...defined({ command, args }),
    ...(secrets.length === 0 ? {} : { secrets: secrets.map((entry) => templateSecret(entry, pins)) }),
    ...defined({ composedEnvironment, healthCheck, limits }),
    ...(volumes.length === 0 ? {} : { mounts: volumes.map((mount) => templateMount(mount, sizes)) }),
    ...(networks.length === 0 ? {} : { networks }),
  }
}

function templateMount({ volume, target, type, readOnly }: VolumeMount, sizes: TmpfsSizes): TemplateMount {
  const sizeBytes = type === 'tmpfs' && Object.hasOwn(sizes, volume) ? sizes[volume] : undefined
  return { volume: asVolumeId(volume), target, type, readOnly, ...defined({ sizeBytes }) }
}

/** The capabilities that an agent needs to create a container of the spec. */
export const neededCapabilities = memoizeByObject((spec: DeploymentSpec): readonly string[] =>
  capabilitiesNeeded(templateOptions(spec, {}, {})),
)

/**
 * The canonical text of a template. Callers hash the text, because this package has no hash function. A requested restart
 * changes the text.
 */
export function canonicalTemplate(
  spec: DeploymentSpec,
  digest: string,
  { pins, restartRevision }: { readonly pins?: Pins; readonly restartRevision?: number } = {},
): string {
  const template = containerTemplate(spec, digest, pins)
  // The text has the mounts as `volumes`, without the size of a tmpfs: a resized volume recreates no container.
  const { name: _name, stopGracePeriod: _grace, mounts: _mounts, ...hashed } = template
  const { secretsVersion, volumes = [] } = spec
  const restart = defined({ restartRevision })
  return canonicalJson({ ...hashed, secrets: hashed.secrets ?? [], secretsVersion, volumes, ...restart })
}

function templateSecret({ name, vault_path }: SecretEntry, pins: Pins): TemplateSecret {
  return { name, ...credentialPath(vault_path), version: pinOf(pins, vault_path) }
}

/** The version that a credential path is pinned to; null means the credential's first version. */
export function pinOf(pins: Pins = {}, path: string): number | null {
  const { label } = credentialPath(path)
  return Object.hasOwn(pins, label) ? (pins[label] ?? null) : null
}

const IMPLIED_PORT = ':443'

/**
 * The image reference with its digest. The default HTTPS port is omitted, because Docker accepts `docker.io` but not
 * `docker.io:443`.
 */
function pinnedImage(reference: string, digest: string): string {
  const parsed = parseImageReference(reference)
  if (parsed === undefined) throw new TypeError('a stored image reference does not parse')
  const host = parsed.host.endsWith(IMPLIED_PORT) ? parsed.host.slice(0, -IMPLIED_PORT.length) : parsed.host
  return `${host}/${parsed.repository}@${digest}`
}
