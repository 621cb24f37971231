// The kinds of steps that make up a setup. A step is plain data: it can be printed, compared and performed.

import type { InvitedFile } from './join/invitation.ts'
import type { Setting } from './join/settings.ts'
import type { CertificateName, Service, Unit } from './layout.ts'

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
  readonly role: CertificateName
  /** Common name of the certificate, for people who read it. */
  readonly name: string
  readonly cert: string
  readonly key: string
  readonly owner: string
  /** Names and addresses that the certificate proves, in openssl's notation: `DNS:a.example`, `IP:127.0.0.1`. */
  readonly names: readonly string[]
  readonly proves: 'server' | 'client' | 'both'
  readonly days: number
  /** The issuer: the authority on this machine, or the machine that wrote the invitation. */
  readonly from: 'authority' | 'invitation'
}

/** Writes a file of the invitation. An existing file stays: the operator may have replaced it on all machines. */
export interface DeliverStep extends Owned {
  readonly kind: 'deliver'
  readonly item: InvitedFile | 'invitation'
  /** Where an earlier version of setup delivered it; it then stays there. */
  readonly earlier?: string
}

/** Changes the settings of a configuration that depend on the machines of the platform. */
export interface SettingsStep extends Owned {
  readonly kind: 'settings'
  /** The configuration of the invitation, and what is changed in it when it is written for the first time. */
  readonly base?: { readonly item: 'server.yaml' | 'broker.yaml'; readonly settings: readonly Setting[] }
  readonly settings: readonly Setting[]
}

/** Adds this machine to etcd as a learner, which has no vote. */
export interface MemberStep {
  readonly kind: 'member'
  readonly peerUrl: string
}

/** Gives the learner on this machine a vote. */
export interface PromoteStep {
  readonly kind: 'promote'
  readonly peerUrl: string
}

/** Tells etcd, which has data, the address at which other members reach it. */
export interface AddressStep {
  readonly kind: 'address'
  readonly name: string
  readonly peerUrl: string
}

/** Lets the secrets store, which has data and no other members, start with another address. */
export interface StoreAddressStep extends Owned {
  readonly kind: 'store address'
  readonly content: string
  /** The settings of the store, which have this line as soon as the store has the address. */
  readonly config: string
  readonly line: string
}

/** Waits until the member of the secrets store on this machine has a vote. */
export interface VoterStep {
  readonly kind: 'voter'
  readonly name: string
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
  /**
   * Origin of the key: a new store, the pending credentials of an interrupted setup, or a file of the operator. With
   * `joining store` it is that file, and the empty store first joins those of the other machines.
   */
  readonly keyFrom: 'new store' | 'pending' | 'key file' | 'joining store'
}

/** Issues an identity in the secrets store, and writes its secret id and the configuration that names its role id. */
export interface IdentityStep {
  readonly kind: 'identity'
  readonly identity: 'api' | 'broker'
  /** A secret id that an earlier version of setup wrote stays where it is. */
  readonly secretId: Owned & { readonly earlier: string }
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
  | DeliverStep
  | SettingsStep
  | MemberStep
  | PromoteStep
  | AddressStep
  | StoreAddressStep
  | VoterStep

/** Placeholder of a role id in the content of a configuration. */
export const ROLE_ID = '{role id}'

/** The paths of all files that a step writes. */
/** Files of earlier versions of setup that stand for those of a step. */
export function earlierFiles(step: Step): readonly string[] {
  if (step.kind === 'identity') return [step.secretId.earlier]
  return step.kind === 'deliver' && step.earlier !== undefined ? [step.earlier] : []
}

export function writtenBy(step: Step): readonly string[] {
  switch (step.kind) {
    case 'write':
    case 'deliver':
    case 'settings':
    case 'store address':
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
