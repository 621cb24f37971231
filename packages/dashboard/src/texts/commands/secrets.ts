// The commands and API calls of secrets and their rotation.

import { API, type Equivalent, word } from '../commands.ts'

const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

export const secretEquivalents = {
  list: (): Equivalent => ({ command: 'holdfast secret list', call: `GET ${API}/secrets` }),
  write: (path: string, key: string): Equivalent => ({
    command: `holdfast secret set ${word(path)} --generate ${word(key)}`,
    call: `PUT ${API}/secrets/${encode(path)}`,
  }),
  consumers: (path: string): Equivalent => ({
    command: `holdfast secret consumers ${word(path)}`,
    call: `GET ${API}/secrets/resources/${encodeURIComponent(path.slice(path.indexOf('/') + 1))}/consumers`,
  }),
  rotation: (deployment: string): Equivalent => ({
    command: `holdfast secret rotation ${word(deployment)}`,
    call: `GET ${API}/deployments/${encodeURIComponent(deployment)}/secrets/rotation`,
  }),
}
