// SPDX-License-Identifier: Apache-2.0
// The official client of the Model Context Protocol drives each tool of `ascope mcp`: node mcp_client.mjs ASCOPE DIRECTORY.
// --look: only whether the client is there; it is looked for from the current directory on. test_mcp.py starts this.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

async function from(name) {
  const require = createRequire(process.cwd() + "/");
  return import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)).href);
}

const { Client } = await from("client/index.js");
const { StdioClientTransport } = await from("client/stdio.js");
if (process.argv[2] !== "--look") {
  const [ascope, directory] = process.argv.slice(2);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: ascope, args: ["mcp", directory] }));
  const { tools } = await client.listTools();
  const more = { compare: { base: directory, new: directory }, timeline: { slice: 0 }, sql: { statement: "SELECT count(*) FROM kernels" }, explain: { term: "rank" } };
  for (const { name } of tools) {
    const answer = await client.callTool({ name, arguments: { max_chars: 2000, ...more[name] } });
    const isRefused = name === "hang"; // there are no dumps
    if (Boolean(answer.isError) !== isRefused || answer.content[0].text.length > 2000)
      throw new Error(`${name}: ${JSON.stringify(answer)}`);
  }
  const { resources } = await client.listResources();
  for (const { uri } of resources)
    if (!(await client.readResource({ uri })).contents[0].text)
      throw new Error(`${uri}: empty`);
  await client.close();
}
