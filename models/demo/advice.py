"""The advice of the demo world: topics and tasks of daily life, each with sound and plainly wrong tips.

Long because the world is written out, an entry a line.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class AdviceTopic:
    """Something people ask advice on, with sound tips and tips that are plainly wrong."""

    topic: str
    sound: tuple[str, ...]
    wrong: tuple[str, ...]


ADVICE: tuple[AdviceTopic, ...] = (
    AdviceTopic(
        topic="sleeping better",
        sound=(
            "keep the bedroom dark and cool",
            "go to bed at fixed times",
            "stay off screens before bed",
            "relax quietly in the late evening",
        ),
        wrong=(
            "drink strong coffee at midnight",
            "sleep with loud music playing",
            "leave every lamp on all night",
            "nap for hours each evening",
        ),
    ),
    AdviceTopic(
        topic="studying for an exam",
        sound=(
            "start several weeks before the test",
            "test yourself with old questions",
            "take short breaks between chapters",
            "explain each subject in your own words",
        ),
        wrong=(
            "open the book after the test",
            "learn everything in the last hour",
            "watch films while reading the notes",
            "skip all the difficult chapters",
        ),
    ),
    AdviceTopic(
        topic="saving money",
        sound=(
            "write down what you spend",
            "set aside part of each salary",
            "compare prices before you buy",
            "cancel services you never use",
        ),
        wrong=(
            "buy whatever looks shiny",
            "order dinner from restaurants every day",
            "spend the whole salary at once",
            "pay for three unused gym cards",
        ),
    ),
    AdviceTopic(
        topic="caring for house plants",
        sound=(
            "water them when soil feels dry",
            "place them near a bright window",
            "use pots with drain holes",
            "remove the dead leaves",
        ),
        wrong=(
            "water them with salty soup",
            "hide them in a dark closet",
            "pull them out to check roots",
            "paint the leaves for more colour",
        ),
    ),
    AdviceTopic(
        topic="training a young dog",
        sound=(
            "reward good behaviour right away",
            "use the same short commands",
            "practise a few minutes each day",
            "stay calm and patient",
        ),
        wrong=(
            "change the commands every day",
            "give treats for chewing shoes",
            "explain the rules in long letters",
            "wait ten years before you begin",
        ),
    ),
    AdviceTopic(
        topic="welcoming guests",
        sound=(
            "greet them warmly at the door",
            "offer them something to drink",
            "tidy the living room beforehand",
            "ask about food they cannot eat",
        ),
        wrong=(
            "hide when the bell rings",
            "lock the door and go shopping",
            "fill every chair with old boxes",
            "serve dinner before they arrive",
        ),
    ),
    AdviceTopic(
        topic="running a first race",
        sound=(
            "build up the distance slowly",
            "wear shoes that fit well",
            "begin the race at an easy pace",
            "rest well the day before",
        ),
        wrong=(
            "wear brand new tight boots",
            "sprint as fast as possible at first",
            "carry a heavy suitcase along",
            "train by sitting on the sofa",
        ),
    ),
    AdviceTopic(
        topic="remembering names",
        sound=(
            "repeat the name when you hear it",
            "link the name to a picture",
            "use the name while you talk",
            "write the name down afterwards",
        ),
        wrong=(
            "think of something else during introductions",
            "call everybody by the same name",
            "cover your ears when people introduce themselves",
            "invent a new name each time",
        ),
    ),
    AdviceTopic(
        topic="writing a polite letter",
        sound=(
            "begin with a friendly greeting",
            "thank the reader at the end",
            "check the spelling before sending it",
            "state your request in clear words",
        ),
        wrong=(
            "leave out the name and address",
            "write everything in secret code",
            "tear the paper in half first",
            "write one word on each page",
        ),
    ),
    AdviceTopic(
        topic="finding a new job",
        sound=(
            "tailor your application to the position",
            "ask former colleagues about openings",
            "prepare for typical interview questions",
            "keep your resume up to date",
        ),
        wrong=(
            "arrive hours late for the interview",
            "send a blank application",
            "leave your phone number out",
            "apply only to closed companies",
        ),
    ),
    AdviceTopic(
        topic="giving a speech",
        sound=(
            "practise aloud several times",
            "look at the audience",
            "speak slowly and clearly",
            "begin with a short story",
        ),
        wrong=(
            "whisper with your back turned",
            "read a phone book aloud",
            "mumble as fast as you can",
            "show slides with tiny grey text",
        ),
    ),
    AdviceTopic(
        topic="learning a language",
        sound=(
            "practise a little every day",
            "talk with native speakers",
            "listen to simple songs and shows",
            "review new words often",
        ),
        wrong=(
            "study once every five years",
            "avoid hearing or speaking it",
            "learn only words nobody uses",
            "keep the dictionary closed forever",
        ),
    ),
    AdviceTopic(
        topic="making new friends",
        sound=(
            "join a club you enjoy",
            "listen with real interest",
            "smile and say hello first",
            "invite people for a coffee",
        ),
        wrong=(
            "stay home and talk to nobody",
            "forget every meeting you agreed on",
            "speak only about yourself",
            "look away when somebody greets you",
        ),
    ),
    AdviceTopic(
        topic="packing a suitcase",
        sound=(
            "make a list of things you need",
            "roll the clothes to save space",
            "put heavy things at the bottom",
            "place liquids in sealed bags",
        ),
        wrong=(
            "fill it with bricks first",
            "pack open bottles of oil",
            "put glass under the heavy boots",
            "take ten coats to the beach",
        ),
    ),
    AdviceTopic(
        topic="keeping the kitchen tidy",
        sound=(
            "wash the dishes after each meal",
            "wipe the counter every evening",
            "give each pot a fixed place",
            "empty the bin often",
        ),
        wrong=(
            "pile dirty plates on the floor",
            "let spilled sauce dry on tables",
            "store the rubbish in the drawers",
            "wash dishes only at new year",
        ),
    ),
    AdviceTopic(
        topic="eating healthy meals",
        sound=(
            "eat plenty of vegetables",
            "choose whole grain bread",
            "cook with fresh food at home",
            "limit sugar and salt",
        ),
        wrong=(
            "replace every lunch with candy",
            "eat only cake for a week",
            "pour syrup over the salad",
            "fry each apple in butter",
        ),
    ),
    AdviceTopic(
        topic="drinking enough water",
        sound=(
            "carry a bottle all day",
            "drink a glass with every meal",
            "put a full jug on the desk",
            "set a reminder to drink",
        ),
        wrong=(
            "keep all the cups locked away",
            "measure each drop with a spoon",
            "eat dry crackers instead",
            "pour every glass back untouched",
        ),
    ),
    AdviceTopic(
        topic="working from home",
        sound=(
            "set up a quiet desk",
            "keep regular working hours",
            "agree on break times with family",
            "separate office and free time",
        ),
        wrong=(
            "set up in a noisy playground",
            "keep the television on all day",
            "work from the bed at midnight",
            "host parties during office hours",
        ),
    ),
    AdviceTopic(
        topic="waking up early",
        sound=(
            "put the alarm across the room",
            "open the curtains right away",
            "go to bed an hour sooner",
            "get up at the same hour daily",
        ),
        wrong=(
            "switch off all the alarms",
            "stay up until sunrise",
            "press the snooze button twenty times",
            "cover the windows with thick blankets",
        ),
    ),
    AdviceTopic(
        topic="choosing a gift",
        sound=(
            "think about what the person enjoys",
            "ask a close friend for ideas",
            "note wishes mentioned during the year",
            "keep the receipt for an exchange",
        ),
        wrong=(
            "buy something only you like",
            "give back what they gave you",
            "pick a shirt three sizes small",
            "choose the first thing with eyes shut",
        ),
    ),
    AdviceTopic(
        topic="planning a holiday trip",
        sound=(
            "book the rooms in good time",
            "check that the passport is valid",
            "learn about the weather there",
            "leave some days free",
        ),
        wrong=(
            "book hotels in the wrong city",
            "travel without looking at dates",
            "plan forty museums for one day",
            "buy the tickets after the flight",
        ),
    ),
    AdviceTopic(
        topic="reading more books",
        sound=(
            "always carry a novel with you",
            "read a few pages each night",
            "visit the library every month",
            "start with stories you like",
        ),
        wrong=(
            "keep all books in the cellar",
            "read the same page every day",
            "choose only books you find boring",
            "count the letters on each page",
        ),
    ),
    AdviceTopic(
        topic="keeping a cat happy",
        sound=(
            "play with it every day",
            "clean its litter box daily",
            "give it a post to scratch",
            "let it rest in high places",
        ),
        wrong=(
            "make it swim with you",
            "hide all of its toys",
            "play drums beside its basket",
            "clean its box once a year",
        ),
    ),
    AdviceTopic(
        topic="growing vegetables",
        sound=(
            "choose a sunny spot outside",
            "mix compost into the soil",
            "pull out the weeds each week",
            "sow the seeds in spring",
        ),
        wrong=(
            "sow the seeds on concrete",
            "plant tomatoes in the snow",
            "cover the beds with black paint",
            "pull up carrots every day",
        ),
    ),
    AdviceTopic(
        topic="staying warm in winter",
        sound=(
            "wear several layers of clothes",
            "put on a hat and gloves",
            "drink hot tea",
            "close the doors and curtains",
        ),
        wrong=(
            "wear shorts in the snow",
            "keep all windows wide open",
            "put ice cubes in your socks",
            "take cold showers outdoors",
        ),
    ),
    AdviceTopic(
        topic="dealing with stress",
        sound=(
            "take slow deep breaths",
            "go for a walk outside",
            "talk to someone you trust",
            "tackle one task at a time",
        ),
        wrong=(
            "accept twice as many tasks",
            "check messages every ten seconds",
            "give up all your breaks",
            "think about problems all night",
        ),
    ),
    AdviceTopic(
        topic="practising the piano",
        sound=(
            "play slowly before you play fast",
            "repeat the hard bars",
            "warm up with simple scales",
            "use a metronome",
        ),
        wrong=(
            "play with your elbows only",
            "keep the lid closed",
            "wear thick gloves on the keys",
            "practise wrong notes again and again",
        ),
    ),
    AdviceTopic(
        topic="shopping for food",
        sound=(
            "write a list beforehand",
            "eat something before you go",
            "check what is in the fridge",
            "bring your own bags",
        ),
        wrong=(
            "buy ten of everything you see",
            "go when the store is closed",
            "pick only the most crushed bread",
            "leave the bags at the checkout",
        ),
    ),
    AdviceTopic(
        topic="using the phone less",
        sound=(
            "turn off the notifications",
            "leave it in another room",
            "delete games that waste time",
            "set a daily time limit",
        ),
        wrong=(
            "install fifty new games",
            "hold it during every meal",
            "turn on every possible notification",
            "buy a second one for each hand",
        ),
    ),
    AdviceTopic(
        topic="keeping passwords safe",
        sound=(
            "use a password manager",
            "choose long and random ones",
            "use a different one per account",
            "turn on two step login",
        ),
        wrong=(
            "post them on a public wall",
            "use the same word everywhere",
            "tell them to every caller",
            "choose your own first name",
        ),
    ),
    AdviceTopic(
        topic="taking good photos",
        sound=(
            "hold the camera steady",
            "use soft morning light",
            "move closer to the subject",
            "clean the lens first",
        ),
        wrong=(
            "leave the cap on the lens",
            "shake the camera hard",
            "point the lens at the floor",
            "shoot in a room without light",
        ),
    ),
    AdviceTopic(
        topic="painting a room",
        sound=(
            "cover the floor with sheets",
            "tape the edges first",
            "apply two thin coats",
            "fill the holes before painting",
        ),
        wrong=(
            "paint over the furniture and windows",
            "use water colours from school",
            "walk over the wet paint",
            "start before choosing a colour",
        ),
    ),
    AdviceTopic(
        topic="moving to a new flat",
        sound=(
            "label every box by room",
            "ask friends to carry furniture",
            "sort out old things beforehand",
            "tell the post office your address",
        ),
        wrong=(
            "mix everything in unlabelled sacks",
            "carry one spoon per trip",
            "give the movers a false address",
            "start packing after the truck leaves",
        ),
    ),
    AdviceTopic(
        topic="leading a meeting",
        sound=(
            "send the agenda in advance",
            "start and end on time",
            "let everyone have a say",
            "write down the decisions",
        ),
        wrong=(
            "speak about the weather for hours",
            "invite people to the wrong building",
            "decide nothing and write nothing",
            "start an hour late without reason",
        ),
    ),
    AdviceTopic(
        topic="cheering up a friend",
        sound=(
            "listen without judging",
            "offer your help with small things",
            "send a kind message",
            "suggest a walk together",
        ),
        wrong=(
            "ignore every call for weeks",
            "talk only about your own success",
            "send them an empty envelope",
            "change the subject to taxes",
        ),
    ),
    AdviceTopic(
        topic="hiking in the hills",
        sound=(
            "check the forecast before leaving",
            "wear sturdy boots",
            "take water and a map",
            "tell someone your route",
        ),
        wrong=(
            "walk in slippers",
            "wear a heavy velvet curtain",
            "throw the map away",
            "bring a piano along",
        ),
    ),
)

HOW_TO: tuple[AdviceTopic, ...] = (
    AdviceTopic(
        topic="boiling an egg",
        sound=(
            "lower it gently into hot water",
            "cook it for about eight minutes",
            "cool it under cold water",
            "use a spoon to put it in",
        ),
        wrong=(
            "put it in the freezer",
            "peel it before you cook it",
            "cook it for one second",
            "use an empty dry pot",
        ),
    ),
    AdviceTopic(
        topic="ironing a shirt",
        sound=(
            "start with the collar",
            "set the heat for the fabric",
            "use a flat ironing board",
            "iron it while slightly damp",
        ),
        wrong=(
            "use an iron that is cold",
            "leave the shirt rolled in a ball",
            "iron only the hanger",
            "fold many creases in first",
        ),
    ),
    AdviceTopic(
        topic="planting a tree",
        sound=(
            "dig a wide enough hole",
            "set the roots below the ground",
            "water it well after planting",
            "tie it to a strong stake",
        ),
        wrong=(
            "plant it with the roots up",
            "cut off all the roots",
            "place it in a kitchen drawer",
            "fill the hole before it is in",
        ),
    ),
    AdviceTopic(
        topic="baking bread",
        sound=(
            "let the dough rise",
            "knead the dough well",
            "heat the oven in advance",
            "add yeast to the flour",
        ),
        wrong=(
            "bake it in the fridge",
            "leave out the flour",
            "use sand in place of yeast",
            "take it out after one minute",
        ),
    ),
    AdviceTopic(
        topic="brewing tea",
        sound=(
            "pour hot water on the leaves",
            "let it steep a few minutes",
            "warm the pot first",
            "take the leaves out in time",
        ),
        wrong=(
            "use ice in place of water",
            "let it steep for a month",
            "pour the tea on the table",
            "boil the cup without any leaves",
        ),
    ),
    AdviceTopic(
        topic="cooking rice",
        sound=(
            "rinse the grains first",
            "simmer it with the lid on",
            "use plenty of clean water",
            "let it rest before serving",
        ),
        wrong=(
            "cook it without any water",
            "put the closed bag on plates",
            "cook it on a cold stove",
            "drain it before it gets wet",
        ),
    ),
    AdviceTopic(
        topic="washing a wool sweater",
        sound=(
            "use cool water and mild soap",
            "press the water out gently",
            "dry it flat on a towel",
            "turn it inside out",
        ),
        wrong=(
            "boil it for two hours",
            "hang it up with heavy weights",
            "scrub it with a wire brush",
            "wash it with muddy boots",
        ),
    ),
    AdviceTopic(
        topic="cleaning windows",
        sound=(
            "wipe from top to bottom",
            "use a clean soft cloth",
            "work on a cloudy day",
            "dry the edges at the end",
        ),
        wrong=(
            "rub them with butter",
            "use a cloth full of mud",
            "polish them with rough stones",
            "clean only the curtains",
        ),
    ),
    AdviceTopic(
        topic="wrapping a present",
        sound=(
            "measure the paper before cutting",
            "fold the ends neatly",
            "fix the edges with tape",
            "remove the price tag",
        ),
        wrong=(
            "use a wet newspaper",
            "cut the paper far too small",
            "glue the gift to the table",
            "leave the tape on its roll",
        ),
    ),
    AdviceTopic(
        topic="hanging a picture",
        sound=(
            "mark the spot with a pencil",
            "check that the frame is level",
            "use a nail that is strong enough",
            "hang it at eye height",
        ),
        wrong=(
            "stick it up with jam",
            "hang it facing the wall",
            "nail through the middle of it",
            "fix it to the floor",
        ),
    ),
    AdviceTopic(
        topic="sewing on a button",
        sound=(
            "tie a knot in the thread",
            "go through each hole several times",
            "choose thread in a matching colour",
            "secure the thread at the back",
        ),
        wrong=(
            "use cooked spaghetti as thread",
            "sew past the holes",
            "fasten it with soap",
            "cut the thread before you start",
        ),
    ),
    AdviceTopic(
        topic="polishing shoes",
        sound=(
            "brush off the dirt first",
            "spread the polish thinly",
            "buff them with a soft brush",
            "let the polish dry a little",
        ),
        wrong=(
            "cover them in ketchup",
            "polish only the laces",
            "use polish of the wrong colour",
            "put the dirt back on",
        ),
    ),
    AdviceTopic(
        topic="folding a paper plane",
        sound=(
            "crease each fold sharply",
            "fold the sheet along the middle",
            "make both wings the same size",
            "begin with a flat sheet",
        ),
        wrong=(
            "crumple the sheet into a ball",
            "make one wing only",
            "soak the sheet in water",
            "use a thick wooden board",
        ),
    ),
    AdviceTopic(
        topic="flying a kite",
        sound=(
            "choose an open windy field",
            "keep the line tight",
            "stand with your back to the wind",
            "let out the string slowly",
        ),
        wrong=(
            "try it inside the garage",
            "wait for a day without wind",
            "tie it to a heavy rock",
            "leave the string at home",
        ),
    ),
    AdviceTopic(
        topic="building a snowman",
        sound=(
            "roll a large ball for the base",
            "use snow that sticks well",
            "stack smaller balls on top",
            "press snow into the gaps",
        ),
        wrong=(
            "wait until the hottest summer day",
            "put the smallest ball below",
            "build it next to the stove",
            "pour hot water over it",
        ),
    ),
    AdviceTopic(
        topic="brushing teeth",
        sound=(
            "move the brush in small circles",
            "brush for two minutes",
            "reach the back ones too",
            "use a soft toothbrush",
        ),
        wrong=(
            "use chocolate as toothpaste",
            "stop after one second",
            "keep your mouth closed",
            "brush only once a year",
        ),
    ),
    AdviceTopic(
        topic="tying shoelaces",
        sound=(
            "cross the laces first",
            "make a loop and pull through",
            "pull both loops tight",
            "start with ends of equal length",
        ),
        wrong=(
            "tie both shoes together",
            "remove the laces completely",
            "leave the ends hanging loose",
            "use a single very short lace",
        ),
    ),
    AdviceTopic(
        topic="sharpening a pencil",
        sound=(
            "turn it in the sharpener",
            "stop when the tip is pointed",
            "hold the sharpener still",
            "empty the shavings into a bin",
        ),
        wrong=(
            "sharpen the eraser end",
            "break off the tip at once",
            "turn it in a bottle",
            "rub the tip with cotton",
        ),
    ),
    AdviceTopic(
        topic="sending an email",
        sound=(
            "write a clear subject line",
            "check the address once more",
            "attach the file before sending",
            "keep the message short",
        ),
        wrong=(
            "leave the address empty",
            "print it and bury it",
            "delete it before it goes out",
            "type it with the keyboard upside down",
        ),
    ),
    AdviceTopic(
        topic="pitching a tent",
        sound=(
            "choose flat and dry ground",
            "push the pegs in firmly",
            "spread the ground sheet first",
            "stretch the ropes evenly",
        ),
        wrong=(
            "set it up in a stream",
            "leave the poles in the car",
            "throw the pegs away",
            "put the roof under the floor",
        ),
    ),
    AdviceTopic(
        topic="mixing a salad",
        sound=(
            "wash the lettuce thoroughly",
            "add the dressing at the end",
            "cut everything into small pieces",
            "toss it with two large spoons",
        ),
        wrong=(
            "add the dressing a week before",
            "leave the soil on the lettuce",
            "cook it for three hours",
            "mix in the plastic bag",
        ),
    ),
    AdviceTopic(
        topic="fixing a flat tyre",
        sound=(
            "find the hole with soapy water",
            "take the wheel off first",
            "press the patch on firmly",
            "pump it up at the end",
        ),
        wrong=(
            "fill it with porridge",
            "make the hole bigger",
            "pump up the wrong wheel",
            "patch the saddle instead",
        ),
    ),
    AdviceTopic(
        topic="frying pancakes",
        sound=(
            "heat the pan before pouring",
            "turn them when bubbles appear",
            "use a little butter",
            "stir the batter until smooth",
        ),
        wrong=(
            "pour the batter beside the pan",
            "turn them before they are poured",
            "leave the stove off",
            "turn the pan upside down first",
        ),
    ),
    AdviceTopic(
        topic="drawing a straight line",
        sound=(
            "hold the ruler firmly",
            "move the pencil along the edge",
            "mark both end points first",
            "use a sharp pencil",
        ),
        wrong=(
            "use a bent spoon as guide",
            "shake your hand while drawing",
            "draw around a coin",
            "move the ruler at every moment",
        ),
    ),
)

ADVICE_QUESTIONS: tuple[str, ...] = (
    "What helps with {topic}?",
    "Do you have a tip for {topic}?",
    "Give me some advice on {topic}.",
    "I need help with {topic}.",
    "What should I know about {topic}?",
    "Can you tell me a trick for {topic}?",
    "What is your best advice for {topic}?",
    "I find {topic} hard, so what can I do?",
    "How can a beginner get better at {topic}?",
    "Tell me one good habit for {topic}.",
    "What would an expert suggest for {topic}?",
    "Share a simple idea for {topic}.",
    "What makes {topic} easier?",
    "My sister wants advice about {topic}.",
    "Which small change would help with {topic}?",
    "I have trouble with {topic} and want to improve.",
    "Please name one useful rule for {topic}.",
    "What do people recommend for {topic}?",
    "How do I succeed at {topic}?",
    "Is there a secret to {topic}?",
    "Lately I think a lot about {topic}, so any ideas are welcome.",
    "What is the most important thing in {topic}?",
    "Write a short tip about {topic}.",
    "If you could give one hint for {topic}, what would it be?",
    "A friend asked me about {topic}, and I had no answer.",
    "What works well when it comes to {topic}?",
    "Suggest something practical for {topic}.",
    "I am new to {topic}, so where do I start?",
    "What would you do to make {topic} go well?",
    "In one sentence, what is the key to {topic}?",
)

HOW_TO_QUESTIONS: tuple[str, ...] = (
    "What is a good way of {topic}?",
    "How do I go about {topic}?",
    "Explain an important step in {topic}.",
    "I have never tried {topic}, so how does it work?",
    "What must I do for {topic} to go right?",
    "Show me the right method for {topic}.",
    "What is the trick to {topic}?",
    "Can you teach me the basics of {topic}?",
    "Give me short instructions for {topic}.",
    "Which step matters most in {topic}?",
    "My first attempt at {topic} failed, so what should I change?",
    "What should I pay attention to when {topic}?",
    "Describe how {topic} is done properly.",
    "I will be {topic} this afternoon, and I need a hint.",
    "Is there a simple method for {topic}?",
    "How would a skilled person go about {topic}?",
    "Tell me what not to forget when {topic}.",
    "Write one line for a guide about {topic}.",
    "My son wants to learn the art of {topic}.",
    "How is {topic} done at home?",
    "What do I have to do first or last when {topic}?",
    "Name a step that belongs to {topic}.",
    "I keep making mistakes when {topic}.",
    "What would you tell someone who is {topic} for the first time?",
)

ADVICE_STATEMENTS: tuple[str, ...] = (
    "for {topic}, it helps to {tip}",
    "a good tip for {topic} is to {tip}",
    "when it comes to {topic}, you should {tip}",
    "{topic} gets easier if you {tip}",
    "the best advice for {topic} is to {tip}",
    "people who want to succeed at {topic} should {tip}",
    "one simple rule for {topic} is to {tip}",
    "it is wise to {tip} for {topic}",
    "the key to {topic} is to {tip}",
    "you will do better at {topic} if you {tip}",
)

HOW_TO_STATEMENTS: tuple[str, ...] = (
    "{topic} works best if you {tip}",
    "when {topic}, you should {tip}",
    "an important step in {topic} is to {tip}",
    "the right way of {topic} is to {tip}",
    "for {topic}, you need to {tip}",
    "you will succeed at {topic} if you {tip}",
    "the trick to {topic} is to {tip}",
    "anyone who is {topic} should {tip}",
)
