// Rules for an entry of `secrets`: name, path, anchor and rotation. Rules for secret values are in secret-material.ts.

import { isAnchor } from '../../secrets/anchor.ts'
import { faultOfPath, type PathFault } from '../../secrets/vault-path.ts'
import { isAbsent, onText, type Rule } from '../rule-engine/rule.ts'

const NAME = /^[A-Za-z0-9_]+$/

export const secretEntriesRules: readonly Rule[] = [
  { code: 'secret_name_invalid', at: 'secrets[*].name', stage: 'required', refuses: isAbsent },
  {
    code: 'secret_name_invalid',
    at: 'secrets[*].name',
    stage: 'form',
    refuses: onText((name) => !NAME.test(name)),
  },
  {
    code: 'secret_vault_path_required',
    at: 'secrets[*].vault_path',
    stage: 'required',
    refuses: (path) => isAbsent(path) || path === '',
  },
  pathRule('secret_vault_path_not_relative'),
  pathRule('secret_path_shape'),
  pathRule('secret_path_namespace'),
  pathRule('secret_path_name'),
  {
    code: 'secret_anchor_invalid',
    at: 'secrets[*].anchor',
    stage: 'form',
    refuses: onText((anchor) => !isAnchor(anchor)),
  },
  {
    code: 'secret_rotation_unsupported',
    at: 'secrets[*].rotation',
    stage: 'form',
    refuses: onText((rotation) => rotation !== 'restart'),
  },
  { code: 'secret_mount_path_unsupported', at: 'secrets[*].mount_path', stage: 'type', refuses: () => true },
]

function pathRule(code: PathFault): Rule {
  return {
    code,
    at: 'secrets[*].vault_path',
    stage: 'form',
    refuses: onText(
      (path, { namespaces }) =>
        faultOfPath(path, namespaces) === code && { params: { namespaces: namespaces.join(', ') } },
    ),
  }
}
