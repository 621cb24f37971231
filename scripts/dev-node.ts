// `npm run dev:node -- off acme-2`: pulls the plug of a machine of the development platform, or puts it back
// (`on acme-2`), or starts its agent again with other labels (`label acme-2 zone=b`).

import { folderFromArguments } from './dev/dev-folder.ts'
import { orderPower } from './dev/power.ts'

const { done, text } = await orderPower(folderFromArguments([]), process.argv.slice(2))
const tell = done ? process.stdout : process.stderr
tell.write(`${text}\n`)
process.exitCode = done ? 0 : 1
