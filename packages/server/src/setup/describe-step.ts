// One line for each step of a setup, as `--dry-run` prints it and as a run reports it.

import type { SettingsStep, Step } from './step.ts'

export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'folder':
      return `create folder ${step.path} (${access(step)})`
    case 'write':
      return `write ${step.path} (${access(step)})`
    case 'key':
      return `create a random key in ${step.files.map((file) => `${file.path} (${access(file)})`).join(' and ')}`
    case 'authority':
      return `create the platform's authority ${step.cert}, valid for ${step.days} days`
    case 'certificate':
      if (step.from === 'invitation')
        return `write certificate ${step.cert} from the invitation (key: ${access({ mode: 0o600, owner: step.owner })})`
      return `issue certificate ${step.cert} for ${step.names.join(', ')}, valid for ${step.days} days (key: ${access({ mode: 0o600, owner: step.owner })})`
    case 'start':
      return `${step.action} ${step.unit} and wait until it answers`
    case 'unseal':
      return UNSEAL[step.keyFrom]
    case 'identity':
      return `issue the identity ${step.identity} of the secrets store: ${step.secretId.path} (${access(step.secretId)}), ${step.config.path} (${access(step.config)})`
    case 'platform':
      return step.reissue
        ? 'replace the first token of the platform, which an interrupted setup did not show'
        : `create the platform${step.tenant === undefined ? '' : `, the tenant ${step.tenant}`} and its first token`
    case 'show':
      return "revoke the operator's token of the secrets store, then print the first token and the unseal key once"
    case 'deliver':
      return `write ${step.path} from the invitation (${access(step)})`
    case 'settings':
      return `${step.base === undefined ? 'set' : `write ${step.path} from the invitation, and set`} ${namesOf(step)} in ${step.path}`
    case 'member':
      return `add ${step.peerUrl} to the members of etcd, without a vote`
    case 'promote':
      return 'wait until the member of etcd has all data, then give it a vote'
    case 'address':
      return `announce ${step.peerUrl} as the address of ${step.name} to etcd`
    case 'store address':
      return `write ${step.path}, with which the secrets store starts at its new address (${access(step)})`
    case 'voter':
      return 'wait until the secrets store on this machine has a vote'
  }
}

const namesOf = ({ settings }: SettingsStep): string =>
  settings
    .map(({ path, value }) => `${path.join('.')}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('; ')

const UNSEAL = {
  'new store': 'initialize the secrets store and unseal it',
  pending: 'unseal the secrets store with the key of the interrupted setup',
  'key file': 'unseal the secrets store with the key in --unseal-key-file',
  'joining store':
    'join the secrets stores of the other machines, and unseal with the key in --unseal-key-file',
} as const

const access = ({ mode, owner }: { readonly mode: number; readonly owner: string }): string =>
  `${mode.toString(8).padStart(4, '0')} ${owner}`
