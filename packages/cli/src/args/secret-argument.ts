// The secret argument of commands: `resources/orders-db`, or `secret/resources/orders-db` as printed by `-o name`.

import type { ArgumentSpec } from '../command.ts'

export const SECRET_ARGUMENT: ArgumentSpec = {
  name: 'path',
  summary: 'namespace and name of the secret, for example resources/orders-db',
}

/** Splits `namespace/name` of a secret. The platform checks whether the namespace exists and the name is valid. */
export function secretPath(typed = ''): { namespace: string; resource: string } | undefined {
  const path = typed.replace(/^secret\//, '')
  const slash = path.indexOf('/')
  return slash < 0 ? undefined : { namespace: path.slice(0, slash), resource: path.slice(slash + 1) }
}

export const NO_PATH = 'name the secret by its namespace and name, for example resources/orders-db'
