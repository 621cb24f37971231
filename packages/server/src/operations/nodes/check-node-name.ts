// Checks a node's name. The rules are those of a deployment's name, which is safe in paths, keys and log lines.

import type { Json, Rejection } from '@holdfast/contract'
import { isDeploymentName, reject } from '@holdfast/core'

const FORM = { accepted: 'lowercase letters, digits and hyphens, at most 63, beginning with a letter' }

export const isNodeName = isDeploymentName

export function checkNodeName(name: Json): Rejection | undefined {
  return typeof name === 'string' && isNodeName(name)
    ? undefined
    : reject('field_type_invalid', 'nodeName', name, FORM)
}
