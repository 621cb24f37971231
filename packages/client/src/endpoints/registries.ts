// The endpoints /registries. Credentials can be written but never read.

import { registryShape } from '@holdfast/contract'
import type { CallOptions, Calls } from '../calls.ts'
import { segment } from '../request.ts'
import { itemsShape } from '../responses.ts'

const credential = (host: string): string => `/registries/${segment(host)}/credential`

export function registryCalls({ get, write }: Calls) {
  return {
    list: (options?: CallOptions) => get('/registries', itemsShape(registryShape), {}, options),
    setCredential: (
      host: string,
      body: { readonly username: string; readonly password: string },
      options?: CallOptions,
    ) => write('PUT', credential(host), registryShape, { body }, options),
    removeCredential: (host: string, options?: CallOptions) =>
      write('DELETE', credential(host), registryShape, {}, options),
  }
}
