// The kinds of steps that make up a setup. A step is plain data: it can be printed, compared and performed.

import type { Service, Unit } from './layout.ts'

/** A file or folder that one user owns; a mode of 0o600 lets only that user read it. */
interface Owned {
  readonly path: string
  readonly mode: number
  readonly owner: string
}

export interface FolderStep extends Owned {
  readonly kind: 'folder'
}

export interface WriteStep extends Owned {
  readonly kind: 'write'
  readonly content: string
}

/** Writes the same random key to several files, one for each user that needs it. An existing key is copied. */
export interface KeyStep {
  readonly kind: 'key'
  readonly files: readonly Owned[]
}

export interface AuthorityStep {
  readonly kind: 'authority'
  readonly cert: string
  readonly key: string
  readonly days: number
}

export interface CertificateStep {
  readonly kind: 'certificate'
  /** Common name of the certificate, for people who read it. */
  readonly name: string
  readonly cert: string
  readonly key: string
  readonly owner: string
  /** Names and addresses that the certificate proves, in openssl's notation: `DNS:a.example`, `IP:127.0.0.1`. */
  readonly names: readonly string[]
  readonly proves: 'server' | 'client' | 'both'
  readonly days: number
}

export interface StartStep {
  readonly kind: 'start'
  readonly service: Service
  readonly unit: Unit
  readonly action: 'start' | 'restart'
  /** Files that the unit reads when it starts: if an earlier step writes one, the unit is restarted. */
  readonly uses: readonly string[]
}

/** Unseals the secrets store. An empty store is initialized first, and its keys become pending credentials. */
export interface UnsealStep {
  readonly kind: 'unseal'
  /** Origin of the key: a new store, the pending credentials of an interrupted setup, or a file of the operator. */
  readonly keyFrom: 'new store' | 'pending' | 'key file'
}

/** Issues an identity in the secrets store, and writes its secret id and the configuration that names its role id. */
export interface IdentityStep {
  readonly kind: 'identity'
  readonly identity: 'api' | 'broker'
  readonly secretId: Owned
  /** The configuration; `ROLE_ID` in its content stands for the role id of the identity. */
  readonly config: Owned & { readonly content: string }
}

/** Creates the platform tenant; its first token becomes a pending credential. */
export interface PlatformStep {
  readonly kind: 'platform'
  /** Whether a token that an interrupted setup created but did not keep is replaced. */
  readonly reissue: boolean
  /** Name of the tenant that is created with the platform. */
  readonly tenant?: string
}

/** Revokes the operator's token, shows the pending credentials once and deletes their file. */
export interface ShowStep {
  readonly kind: 'show'
}

export type Step =
  | FolderStep
  | WriteStep
  | KeyStep
  | AuthorityStep
  | CertificateStep
  | StartStep
  | UnsealStep
  | IdentityStep
  | PlatformStep
  | ShowStep

/** Placeholder of a role id in the content of a configuration. */
export const ROLE_ID = '{role id}'

/** The paths of all files that a step writes. */
export function writtenBy(step: Step): readonly string[] {
  switch (step.kind) {
    case 'write':
      return [step.path]
    case 'key':
      return step.files.map(({ path }) => path)
    case 'authority':
    case 'certificate':
      return [step.cert, step.key]
    case 'identity':
      return [step.secretId.path, step.config.path]
    default:
      return []
  }
}
