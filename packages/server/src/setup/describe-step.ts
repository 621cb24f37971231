// One line for each step of a setup, as `--dry-run` prints it and as a run reports it.

import type { Step } from './step.ts'

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
  }
}

const UNSEAL = {
  'new store': 'initialize the secrets store and unseal it',
  pending: 'unseal the secrets store with the key of the interrupted setup',
  'key file': 'unseal the secrets store with the key in --unseal-key-file',
} as const

const access = ({ mode, owner }: { readonly mode: number; readonly owner: string }): string =>
  `${mode.toString(8).padStart(4, '0')} ${owner}`
