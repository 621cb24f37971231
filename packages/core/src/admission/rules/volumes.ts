// Rules for volume mounts. Every fault inside a mount, even a wrong type, has the code volume_mount_shape.

import { isVolumeId, MOUNT_TYPES } from '@holdfast/contract'
import { isMountTarget } from '../../grammar.ts'
import { accepted, isAbsent, onText, type Rule, type Stage } from '../rule-engine/rule.ts'

const EXPECTED: { readonly [field: string]: string } = {
  volume: 'the typed id of a volume: vol_ and 26 characters',
  target: 'an absolute, normal path inside the container, for example /var/lib/data',
  type: `one of ${MOUNT_TYPES.join(', ')}`,
  readOnly: 'true or false',
}

export const volumesRules: readonly Rule[] = [
  mountRule('volume', 'type', (value) => !isAbsent(value) && typeof value !== 'string'),
  mountRule('volume', 'required', isAbsent),
  mountRule(
    'volume',
    'form',
    onText((id) => !isVolumeId(id)),
  ),
  mountRule('target', 'type', (value) => !isAbsent(value) && typeof value !== 'string'),
  mountRule('target', 'required', isAbsent),
  mountRule(
    'target',
    'form',
    onText((path) => !isMountTarget(path)),
  ),
  mountRule('type', 'type', (value) => !isAbsent(value) && typeof value !== 'string'),
  mountRule('type', 'required', isAbsent),
  mountRule(
    'type',
    'form',
    onText((type) => !MOUNT_TYPES.some((known) => known === type)),
  ),
  mountRule('readOnly', 'type', (value) => value !== undefined && typeof value !== 'boolean'),
]

function mountRule(field: string, stage: Stage, refuses: Rule['refuses']): Rule {
  return {
    code: 'volume_mount_shape',
    at: `volumes[*].${field}`,
    stage,
    refuses: (value, context, place) =>
      refuses(value, context, place) !== false && accepted(EXPECTED[field] ?? ''),
  }
}
