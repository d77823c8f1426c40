#include "base/secrets.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace fade {
namespace {

using Words = std::vector<std::string>;
using ::testing::ElementsAreArray;

TEST(Secrets, ValuesOfOptionsAreHidden) {
  for (const char* name : {"--token", "--hf-token", "--api-key", "--api_key", "--apiKey", "--password", "--db.password",
                           "--client-secret", "-token"}) {
    EXPECT_THAT(without_secrets({"train", name, "hush", "--epochs", "3"}),
                ElementsAreArray(Words{"train", name, "<redacted>", "--epochs", "3"}))
        << name;
    EXPECT_THAT(without_secrets({"train", std::string(name) + "=hush", "x"}),
                ElementsAreArray(Words{"train", std::string(name) + "=<redacted>", "x"}))
        << name;
  }
}

TEST(Secrets, WhatOnlyLooksLikeOneIsKept) {
  const Words words{"train.py",
                    "--tokenizer",
                    "gpt2",
                    "--tokenizer=gpt2",
                    "--max-tokens",
                    "100",
                    "--max_new_tokens=100",
                    "--eos-token",
                    "</s>",
                    "--pad-token=0",
                    "--token-file",
                    "/run/token",
                    "--keys",
                    "3",
                    "--bypass",
                    "on",
                    "--sort-key",
                    "time",
                    "token",
                    "hush",
                    "--passes",
                    "2",
                    "--monkey=1",
                    "-e",
                    "key",
                    "--",
                    "x=1"};
  EXPECT_THAT(without_secrets(words), ElementsAreArray(words));
}

TEST(Secrets, AnOptionIsNotTheValueOfTheOneBefore) {
  const Words words{"train", "--use-auth-token", "--fp16", "run"};
  EXPECT_THAT(without_secrets(words), ElementsAreArray(words));
}

TEST(Secrets, VariablesAndKeys) {
  EXPECT_THAT(without_secrets({"env", "HF_TOKEN=hush", "A=1", "--env=AWS_SECRET_ACCESS_KEY=hush", "model.api_key=hush",
                               "MAX_TOKENS=100"}),
              ElementsAreArray(Words{"env", "HF_TOKEN=<redacted>", "A=1", "--env=AWS_SECRET_ACCESS_KEY=<redacted>",
                                     "model.api_key=<redacted>", "MAX_TOKENS=100"}));
}

TEST(Secrets, PasswordsInAddresses) {
  EXPECT_THAT(
      without_secrets({"get", "https://user:hush@host/path?x=1", "--proxy=http://a:hu:sh@b:3128", "ssh://git@host:22/x",
                       "http://host:80/a@b", "https://h/p?a=1&api_key=hush&b=2"}),
      ElementsAreArray(Words{"get", "https://user:<redacted>@host/path?x=1", "--proxy=http://a:<redacted>@b:3128",
                             "ssh://git@host:22/x", "http://host:80/a@b", "https://h/p?a=1&api_key=<redacted>&b=2"}));
}

TEST(Secrets, CommandsInsideOfAWord) {
  EXPECT_THAT(
      without_secrets(
          {"sh", "-c", "cd /x && HF_TOKEN=hush train --api-key hush --max-tokens 100  --password='hu sh' last"}),
      ElementsAreArray(Words{
          "sh", "-c",
          "cd /x && HF_TOKEN=<redacted> train --api-key <redacted> --max-tokens 100  --password=<redacted> last"}));
  EXPECT_THAT(without_secrets({"curl", "-H", "Authorization: Bearer hush"}),
              ElementsAreArray(Words{"curl", "-H", "Authorization: Bearer <redacted>"}));
  EXPECT_THAT(without_secrets({"sh", "-c", "A=1 train --token hush"}),
              ElementsAreArray(Words{"sh", "-c", "A=1 train --token <redacted>"}));
  EXPECT_THAT(without_secrets({"--password=hu sh", "--token", "hu sh", "PGPASSWORD=hu sh"}),
              ElementsAreArray(Words{"--password=<redacted>", "--token", "<redacted>", "PGPASSWORD=<redacted>"}));
  const Words harmless{"sh", "-c", "a  b\n c --tokenizer x"};
  EXPECT_THAT(without_secrets(harmless), ElementsAreArray(harmless));
}

TEST(Secrets, NothingIsNothing) {
  EXPECT_TRUE(without_secrets({}).empty());
  const Words words{"", "--token", "", "--password", "--key="};
  EXPECT_THAT(without_secrets(words), ElementsAreArray(words));
}

}  // namespace
}  // namespace fade
